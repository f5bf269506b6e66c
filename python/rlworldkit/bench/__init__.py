"""Benchmarks of any world, which all report their results as records."""
