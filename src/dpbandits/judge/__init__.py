"""Judge of the papers' claims: under every implementation that their texts admit."""
