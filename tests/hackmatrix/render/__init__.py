"""A board as text, as a picture and in a window."""
