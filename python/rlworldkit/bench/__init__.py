"""Benchmarks of any world; each gives records of one and the same form."""
