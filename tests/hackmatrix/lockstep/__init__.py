"""Both engines in lockstep, and everything that the harness is given for it."""
