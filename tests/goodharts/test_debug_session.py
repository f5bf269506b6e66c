"""The debugger's session on the game."""

from __future__ import annotations

from parity.debug import Session


def test_a_game_stops_at_a_mark_goes_back_and_forks_by_an_edit() -> None:
    with Session("goodharts-proxy", "torch", seed=7) as game:
        assert game.run_until("G5.food", steps=500) == "G5.food"
        at = game.position
        game.back()
        game.set("steps", 0)
        game.run_until(steps=1)
        assert game.position == at
        assert game.state()["steps"] == 1
        assert game.compare(0, 1).step == at - 1
        assert game.diff() == ()
        game.check()
