"""Evaluation of agents: their lives (``lives``), figures, tables and JSON (``report``) and a picture (``picture``)."""

RANDOM = "random"
"""The player that is nobody's model: chance."""
