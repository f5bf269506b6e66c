"""Plain functions of JAX as games: they are compiled, and where that cannot be they are played as they are."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from rlparity.adapters.pytree import PytreeGame

SLOW = "step is slow, because jax.jit cannot trace it (TracerBoolConversionError): write it for tracing.\n"


class Sum:
    """A game of plain functions that adds actions up. ``steps``: how often Python carried out a step."""

    def __init__(self, *, is_traceable: bool) -> None:
        self.steps, self.is_traceable = 0, is_traceable

    def step(self, key: Any, state: Any, action: Any) -> Any:  # noqa: ANN401 - pytrees
        self.steps += 1
        if not self.is_traceable and action > 8:
            raise ValueError("no such action")
        return state + action, state + action, jnp.float32(0.5), state > 100

    def game(self) -> PytreeGame:
        return PytreeGame(
            lambda key: (jnp.int32(0), jnp.int32(0)), self.step, mask=lambda state: state + jnp.arange(3) < 9
        )


@pytest.mark.parametrize(("is_traceable", "steps", "printed"), [(True, 1, ""), (False, 61, SLOW)])
def test_plain_functions_are_compiled_once_for_all_games_where_jax_can_trace_them(
    is_traceable: bool, steps: int, printed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    environment = Sum(is_traceable=is_traceable)
    for game in (environment.game(), environment.game()):
        game.begin(0)
        seen = [game.act(action % 3) for action in range(30)]
        assert [int(each.observation) for each in seen] == np.cumsum(np.arange(30) % 3).tolist()
        assert {each.reward for each in seen} == {0.5}
        np.testing.assert_array_equal(game.mask(), [False] * 3)
    assert environment.steps == steps
    assert capsys.readouterr() == ("", printed)


def test_an_error_of_the_environment_itself_stays_what_it_is() -> None:
    game = Sum(is_traceable=False).game()
    game.begin(0)
    with pytest.raises(ValueError, match=r"^no such action$"):
        game.act(9)
