"""The debugger's session on the game."""

from __future__ import annotations

import asyncio

from rlparity.debug import Session
from rlparity.debug.debugger import Debugger
from rlparity.debug.screen import DebugApp


def test_a_game_stops_at_a_mark_goes_back_and_forks_by_an_edit() -> None:
    with Session("goodharts-proxy", "torch", seed=7) as game:
        assert game.run_until("G5.food", steps=500) == "G5.food"
        at = game.position
        game.back()
        game.set("steps", 0)
        game.run_until(steps=1)
        assert game.position == at
        assert game.state()["steps"] == 1
        assert game.diff() == ()
        game.check()


def test_the_screen_shows_the_board_beside_the_panel() -> None:
    async def run(app: DebugApp) -> list[str]:
        async with app.run_test(size=(80, 24)) as pilot:
            await pilot.press("n", "n", "p")
            await pilot.pause()
            return [strip.text.rstrip() for strip in app.screen._compositor.render_strips()]

    with Session("goodharts-proxy", "torch", seed=7) as game:
        lines = asyncio.run(run(DebugApp(Debugger(game))))
    assert lines[0].startswith("goodharts-proxy, fork 0 of 1, step 1, next ")
    assert lines[1].split() == ["torch", "differences", "torch"]
    assert "@" in lines[10]
