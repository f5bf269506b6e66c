"""What a page of any world shows: the games of an agent, a trace file, or a run of training, in values of `parity`."""
