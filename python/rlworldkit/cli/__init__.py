"""The console command of a world: parsing, outputs, errors of one sentence."""
