"""Tools built on the comparison: reports, diffs, golden rewards, coverage and mutation testing."""
