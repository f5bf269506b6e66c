"""What is built on the comparison: reports, diffs, rewards, coverage and mutants."""
