"""How many steps an episode may have, as Gymnasium says it."""

import inspect

from parity.errors import UsageError

UNLIMITED = -1
"""What ``gym.make`` is told where not even the registered limit shall hold."""


def check_limit(max_episode_steps: int | None) -> int | None:
    """The limit, None for none; raises UsageError below 1, except for Gymnasium's -1, which is none too."""
    if max_episode_steps is None or max_episode_steps == UNLIMITED:
        return None
    if max_episode_steps < 1:
        raise UsageError(f"max_episode_steps must be at least 1, not {max_episode_steps}; leave it out for no limit.")
    return max_episode_steps


def limit_of_make() -> int | None:
    """The limit of the ``gym.make`` under which this is called; None outside of one, or where it has none.

    ``gym.make`` passes its ``max_episode_steps`` to nobody: it puts a ``TimeLimit`` around the finished environment,
    which cuts an episode without a word to the environment inside. One that has something to say at the end of an
    episode has to know the limit, so it is read where it stands, among the variables of ``gym.make``.
    """
    import gymnasium as gym

    frame = inspect.currentframe()
    while frame is not None and frame.f_code is not gym.make.__code__:
        frame = frame.f_back
    if frame is None:
        return None
    asked: int | None = frame.f_locals.get("max_episode_steps")
    registered: int | None = getattr(frame.f_locals.get("env_spec"), "max_episode_steps", None)
    return check_limit(registered if asked is None else asked)
