"""Explanations of rewards, ends of games and invalid actions, read from the states around a step."""
