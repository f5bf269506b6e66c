"""The comparison of two engines: lockstep, replay, shrinking and traces."""
