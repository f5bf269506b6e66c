"""Pages of any world: the games of an agent, a trace file, or a training run, as `rlparity` pages."""
