"""What pictures of any world are drawn, shown and filmed with; ``pen`` and ``window`` need pygame."""
