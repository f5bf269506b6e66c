"""The command ``rlparity``."""
