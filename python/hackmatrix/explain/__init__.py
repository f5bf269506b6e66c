"""Rewards told from the states around a step: a third reading of table W, beside both engines."""
