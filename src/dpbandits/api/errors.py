"""The error of the interface."""

from dpbandits.core.errors import UserError as UserError
