"""Evaluation of players: complete episodes on any engine of a world, and their statistics."""
