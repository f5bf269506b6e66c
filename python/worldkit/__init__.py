"""What every world of the harness gets on top of its engines: environments, trainers, runs, evaluation, benchmarks.

Knows no world. A world hands in an adapter (`worldkit.game.Game`); docs/tutorials/your-own-world.md goes through one.
"""
