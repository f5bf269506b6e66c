"""Rewards told from states: the readings of table W, and the command that shows them."""
