"""HackMatrix: a 6x6 grid roguelike in two engines, and the trainers on top of them."""

__version__ = "0.1.0"
RULES_VERSION = "1"
