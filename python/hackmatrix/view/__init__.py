"""What a page shows: the games of an agent, a trace file, or a run of training, as values of ``parity.viewer``."""
