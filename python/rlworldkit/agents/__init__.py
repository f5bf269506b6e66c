"""Agents from files of any kind: reading them, their logits and values, the choice of actions, and search."""
