"""Hosts on one machine: network namespaces that a bridge joins. Needs root and iproute2."""

import os
import signal
import subprocess
from contextlib import suppress

from dask_processes import Machine

BRIDGE = "bridge"


def ip(*words: str) -> str:
    """Run `ip`; return its output. Raises CalledProcessError with the reason."""
    return subprocess.run(("ip", *words), check=True, capture_output=True, text=True).stdout


class Host(Machine):
    """Namespace with an address of its own, whose cable ends at a port of the bridge."""

    def __init__(self, network: str, number: int) -> None:
        self.network, self.name = network, f"{network}-{number}"
        self.port = f"port{number}"
        super().__init__(f"10.77.0.{number}", ("ip", "netns", "exec", self.name))
        ip("netns", "add", self.name)
        cable = ("type", "veth", "peer", "name", self.port, "netns", network)
        ip("-n", self.name, "link", "add", "eth0", *cable)
        ip("-n", self.name, "address", "add", f"{self.address}/24", "dev", "eth0")
        for link in ("lo", "eth0"):
            ip("-n", self.name, "link", "set", link, "up")
        ip("-n", network, "link", "set", self.port, "up")
        self.mend()

    def mend(self) -> None:
        """Connect the port to the bridge."""
        ip("-n", self.network, "link", "set", self.port, "master", BRIDGE)

    def cut(self) -> None:
        """Drop every packet from now on. Neither side is notified: the link itself stays up."""
        ip("-n", self.network, "link", "set", self.port, "nomaster")

    def vanish(self) -> None:
        """End the host as a power failure does: no packet announces the end of a connection."""
        self.cut()
        self.remove()

    def remove(self) -> None:
        """Kill all processes of the host and delete its namespace."""
        for number in ip("netns", "pids", self.name).split():
            with suppress(ProcessLookupError):
                os.kill(int(number), signal.SIGKILL)
        ip("netns", "delete", self.name)


class Network:
    """Hosts joined by a bridge, which is in a namespace of its own; close() removes them all."""

    def __init__(self) -> None:
        self.name = f"dpbandits-{os.getpid()}"
        self.hosts: list[Host] = []
        ip("netns", "add", self.name)
        ip("-n", self.name, "link", "add", BRIDGE, "type", "bridge")
        ip("-n", self.name, "link", "set", BRIDGE, "up")

    def host(self) -> Host:
        """Add a host."""
        self.hosts.append(Host(self.name, len(self.hosts) + 1))
        return self.hosts[-1]

    def close(self) -> None:
        for host in self.hosts:
            with suppress(subprocess.CalledProcessError):  # it has vanished
                host.remove()
        ip("netns", "delete", self.name)
