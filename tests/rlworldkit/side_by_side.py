"""Many games beside Gymnasium's own vector environment of single ones, which must say the same."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from tests.played import assert_same, choose


def played_alike(native: Any, alone: Any, steps: int, wrong: float = 0.0) -> Iterator[Any]:  # noqa: ANN401 - environments
    """Reset both and step them with the same random actions, ``wrong`` of them any at all; what both said of each step.

    Games that ended are reset where the environments leave it to the caller.
    """
    rng = np.random.default_rng(0)
    seen, expected = (env.reset(seed=3) for env in (native, alone))
    assert_same(list(seen), list(expected))
    for _ in range(steps):
        actions = choose(seen[-1]["action_mask"], rng, wrong)
        seen, expected = (env.step(actions) for env in (native, alone))
        assert_same(list(seen), list(expected))
        yield seen
        ended = seen[2] | seen[3]
        if native.metadata["autoreset_mode"] is AutoresetMode.DISABLED and ended.any():
            seen, expected = (env.reset(options={"reset_mask": ended}) for env in (native, alone))
            assert_same(list(seen), list(expected))
    native.close()
    alone.close()
