"""The debugger's session on the game."""

from __future__ import annotations

import pytest

from rlparity import UsageError
from rlparity.debug import Session


@pytest.mark.usefixtures("swift_built")
def test_a_game_stops_at_a_mark_goes_back_and_forks_by_an_edit() -> None:
    with Session("hackmatrix", "swift", seed=7) as game:
        assert game.run_until("E6.several", "components.kills > 0", "hp < 3") is not None
        at = game.position
        game.back()
        with pytest.raises(UsageError, match=r"state\.player\.hp cannot be 99"):
            game.set("hp", 99)
        game.set("hp", 2)
        assert game.observation()["player hp"] == game.field("observation[player hp]") == pytest.approx(2 / 3)
        game.run_until(steps=1)
        assert game.position == at
        assert len(game.board().rows) == 6
        assert [fork.parent for fork in game.forks] == [None, game.forks[0]]
        assert game.diff() == ()
        game.check()
