"""DP-FTPL-Beta that samples only the arms above a level."""

from dpbandits.fast.dp_ftpl_gauss import covers, play

__all__ = ["covers", "play"]
