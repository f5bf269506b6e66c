"""How well agents live: play (``play``), figures (``figures``), tables (``report``) and a picture (``picture``)."""

RANDOM = "random"
"""The player that is nobody's model: chance."""
