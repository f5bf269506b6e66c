"""The screen, driven by keys: real games on the Swift engine, in 80 columns x 24 lines and in more."""

import asyncio
import os
import re
import signal
from collections.abc import Awaitable, Callable

import pytest
from textual.pilot import Pilot

from hackmatrix.rules import ACTIONS, NUM_ACTIONS, PROGRAMS
from rlparity import EngineError
from rlparity.core.trace import read_trace
from rlworldkit.show.play.app import COMMANDS, PlayApp, help_text
from rlworldkit.show.play.game import PlayEngine
from rlworldkit.show.play.session import PlaySession
from rlworldkit.show.watch.controls import Controls

WIDTH, HEIGHT = 80, 24


def drive(session: PlaySession, act: Callable[[Pilot[EngineError]], Awaitable[object]]) -> PlayApp:
    """Show a session on a screen, and act on it."""

    async def run() -> PlayApp:
        app = PlayApp(session, Controls(100))
        async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
            await act(pilot)
        return app

    return asyncio.run(run())


def test_every_action_and_every_command_has_a_key_of_its_own_and_the_help_fits(engine: PlayEngine) -> None:
    assert len(engine.panels.keys) == NUM_ACTIONS
    keys = [*engine.panels.keys, *(key for command in COMMANDS for key in command.key.split(","))]
    assert len(set(keys)) == len(keys)
    assert all(len(sign) == 1 for sign in engine.panels.signs)
    lines = help_text(engine.panels, "hackmatrix-7.json").plain.splitlines()
    assert len(lines) < HEIGHT
    assert max(map(len, lines)) <= WIDTH
    assert all(any(command.description in line for line in lines) for command in COMMANDS)


def test_80_columns_and_24_lines_show_all_that_is_needed_and_cut_nothing(advised: PlaySession) -> None:
    lines: list[str] = []

    async def act(pilot: Pilot[EngineError]) -> None:
        await pilot.pause()
        lines.extend(strip.text.rstrip() for strip in pilot.app.screen._compositor.render_strips())

    drive(advised, act)
    seen = "\n".join(lines)
    assert len(lines) <= HEIGHT
    assert "…" not in seen
    for word in (*PROGRAMS, *ACTIONS[:5]):
        assert re.search(rf"^.*(?<!\S){re.escape(word)}\s+(\S+ )*", seen, re.MULTILINE), word
    for words in (
        *("game 7, step 0", "? help", "q leave", "stage 1 of 8, turn 0", "step 0", "episode 0", "EXIT", "[WAIT]+1"),
        *("hp ♥♥♥  score 0", "credits 0  energy 11", "data siphons 0", "attack 1 of 3", "next spawn: turn 12"),
        *("↑ up     ready  89%", "↓ down   edge", "s siphon       none held"),
        *("a PUSH   e2    not owned", "y HACK   $2 e2 not owned"),
    ):
        assert words in seen, words
    assert seen.count("not owned") == len(PROGRAMS)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_saves_and_leaves(session: PlaySession, number: signal.Signals) -> None:
    async def act(pilot: Pilot[EngineError]) -> None:
        await pilot.press("up")
        os.kill(os.getpid(), number)
        while not session.saved:
            await pilot.pause(0.01)

    assert drive(session, act).was_stopped
    assert read_trace(session.path).case.actions == (0,)
