"""How HackMatrix's engines show themselves to the parity harness (``hackmatrix.world`` registers them)."""
