"""Self-contained HTML page of episodes: two engines side by side, or an agent that plays."""
