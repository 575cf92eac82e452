"""Configuration, from YAML to frozen values; the only package that imports Hydra and OmegaConf."""
