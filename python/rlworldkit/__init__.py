"""Environments, trainers, runs, evaluation, benchmarks and viewers for every world of the harness.

Knows no world. A world hands in an adapter (`rlworldkit.game.Game`); docs/tutorials/your-own-world.md goes through one.
"""
