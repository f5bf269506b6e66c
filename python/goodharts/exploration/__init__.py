"""Start states and policies of directed runs, and shrinkers of states."""
