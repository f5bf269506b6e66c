"""Agents from files of any kind: read, asked for logits and values, played by, and searched with."""
