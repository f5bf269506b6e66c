"""Rewards told from the states around a step: a reading of table W on its own, with the prices of an engine."""
