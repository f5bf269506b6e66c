"""Tests of everything around the game and the trainer: packaging, make, console command, benchmarks, docs."""
