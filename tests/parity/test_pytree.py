"""Plain functions of JAX as games."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from rlparity.adapters.pytree import PytreeGame


class Sum:
    """A game of plain functions that adds actions up. ``traced``: how often Python carried out a step."""

    traced = 0

    def step(self, key: Any, state: Any, action: Any) -> Any:  # noqa: ANN401 - pytrees
        self.traced += 1
        return state + action, state + action, jnp.float32(0.5), state > 100

    def game(self) -> PytreeGame:
        return PytreeGame(
            lambda key: (jnp.int32(0), jnp.int32(0)), self.step, mask=lambda state: state + jnp.arange(3) < 9
        )


def test_plain_functions_are_compiled_once_for_all_games() -> None:
    environment = Sum()
    for game in (environment.game(), environment.game()):
        game.begin(0)
        seen = [game.act(action % 3) for action in range(30)]
        assert [int(each.observation) for each in seen] == np.cumsum(np.arange(30) % 3).tolist()
        assert {each.reward for each in seen} == {0.5}
        np.testing.assert_array_equal(game.mask(), [False] * 3)
    assert environment.traced == 1
