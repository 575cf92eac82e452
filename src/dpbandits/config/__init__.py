"""Configuration: YAML files, composed with Hydra and OmegaConf, to frozen values."""
