"""Errors that a user can cause and mend. Their text is one sentence that says what to do."""


class HackMatrixError(Exception):
    """Something the user gave cannot be used; the message names it and says what to do."""


class StateError(HackMatrixError, ValueError):
    """A state dict breaks a rule; the message names the field and the fault."""


class UsageError(HackMatrixError):
    """A command line cannot be carried out as written (exit code 2)."""
