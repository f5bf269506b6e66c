"""Evaluation of agents: their lives (``lives``), figures, tables and JSON (``report``) and a picture (``picture``)."""
