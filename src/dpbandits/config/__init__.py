"""From YAML to frozen values: the only package that knows Hydra and OmegaConf."""
