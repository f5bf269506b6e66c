"""Goodharts: agents that are trained on a proxy, and then eat poison."""

from goodharts.rules import VERSION

__version__ = "0.1.0"
RULES_VERSION = VERSION
