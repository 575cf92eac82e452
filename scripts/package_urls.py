"""Adds the repository to the package's metadata once pyproject.toml names it; run by hatchling."""

from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class PackageUrls(MetadataHookInterface):
    """Reads `repository` of pyproject.toml; an index accepts no empty address."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the addresses of the metadata."""
        repository = self.config["repository"]
        metadata["urls"] = {"Repository": repository} if repository else {}
