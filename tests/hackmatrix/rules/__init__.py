"""The rules of HackMatrix as tests: one file per chapter, every rule id in a test's name."""
