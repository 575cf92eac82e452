"""Conversion of YAML to frozen values: the only package that uses Hydra and OmegaConf."""
