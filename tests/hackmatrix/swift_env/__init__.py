"""The bridge to the Swift engine, and what the binary withstands."""
