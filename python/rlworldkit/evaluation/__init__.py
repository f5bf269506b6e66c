"""Evaluation of players: whole episodes on any engine of a world, and their statistics."""
