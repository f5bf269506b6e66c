"""The lockstep harness that holds two engines of a world to each other: empty until the second engine is there."""
