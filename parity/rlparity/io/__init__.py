"""Reading and writing: files, JSON, TOML, the terminal and the values of flags."""
