"""The trainer as tests, on a known problem that costs nothing."""
