"""The error that tells a person what to change; the command line prints it without a traceback."""


class PlanError(ValueError):
    """Something asked for cannot be carried out; the message names the key and the remedy."""
