"""Benchmarks of the torch engine and of its trainer; each gives records of one and the same form."""
