"""Pools of EnvPool with a single environment."""

from typing import Any


def pooled(name: str, seed: int, **options: Any) -> Any:
    """A pool of one environment; the options are EnvPool's."""
    import envpool

    return envpool.make(name, env_type="gymnasium", num_envs=1, seed=seed, **options)
