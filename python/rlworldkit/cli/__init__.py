"""Console commands of a world: parsing, outputs, and errors of one sentence."""
