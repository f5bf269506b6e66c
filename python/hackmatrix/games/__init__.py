"""Many games at once, whichever engine plays them, and the episodes that a player sees of them."""
