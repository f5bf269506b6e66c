"""Pictures, windows and films of any world; ``pen`` and ``window`` need pygame."""
