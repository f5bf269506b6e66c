"""One self-contained HTML page that shows episodes: of two engines side by side, or of an agent that plays."""
