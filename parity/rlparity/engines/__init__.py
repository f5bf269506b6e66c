"""Engines that live elsewhere: other processes, revisions, packages and tapes."""
