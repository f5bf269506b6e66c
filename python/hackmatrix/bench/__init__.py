"""Benchmarks of the environment, the trainer and the start-up; each gives records of one and the same form."""
