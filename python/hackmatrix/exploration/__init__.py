"""Where directed runs start, how they play, and what is smaller than a state."""
