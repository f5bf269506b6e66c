"""Engines outside this process or checkout: other interpreters, revisions, packages and tapes."""
