"""The debugger's session on the game."""

from __future__ import annotations

import asyncio

import pytest

from rlparity import UsageError
from rlparity.debug import Session
from rlparity.debug.debugger import Debugger
from rlparity.debug.screen import DebugApp


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


@pytest.mark.usefixtures("swift_built")
@pytest.mark.parametrize("size", [(80, 24), (160, 45)])
def test_the_screen_shows_a_game_and_what_another_price_pays(size: tuple[int, int]) -> None:
    async def run(app: DebugApp) -> str:
        async with app.run_test(size=size) as pilot:
            await pilot.press("n", "n", "n", "p", "2")
            await pilot.pause()
            return "\n".join(strip.text.rstrip() for strip in app.screen._compositor.render_strips())

    with Session("hackmatrix", "swift", seed=7, prices={"step_penalty": -0.02}) as game:
        lines = asyncio.run(run(DebugApp(Debugger(game)))).splitlines()
    assert lines[0].startswith("hackmatrix, fork 0 of 1, step 2")
    assert lines[0].endswith("swift")
    assert [line.split() for line in lines if "step_penalty" in line] == [["step_penalty", "-20"]]
    assert "EXIT" in lines[7]
    assert max(map(len, lines)) <= size[0]
