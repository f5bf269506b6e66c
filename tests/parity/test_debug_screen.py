"""The debugger's screen, driven by keys, and its command."""

import asyncio
import os
import runpy
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import rlparity
from orchard import plain
from orchard.plain import REST
from textual.events import Key
from textual.pilot import Pilot

from rlparity import World
from rlparity.core.trace import Case
from rlparity.debug import Session, panes
from rlparity.debug.debugger import Debugger
from rlparity.debug.screen import DebugApp
from tests.terminals import in_terminal

SPEC = "faulty_orchard:WORLD"
Size = tuple[int, int]
SIGNS = {" ": "space", "=": "equals_sign", "<": "less_than_sign", ".": "full_stop", ":": "colon", "?": "question_mark"}


def screens(
    *keys: str, world: World | str = SPEC, engines: tuple[str, str] = ("plain", "restless"), size: Size = (80, 24)
) -> list[list[str]]:
    """The lines of the screen of game 3 at its start and after each of some keys, or whole lines that are typed."""
    seen = []
    with Session(world, engines, seed=3) as session:

        async def run() -> None:
            app = DebugApp(Debugger(session))
            async with app.run_test(size=size) as pilot:
                for key in ("", *keys):
                    type_at_once(app, key)
                    await until_it_stands(app, pilot)
                    seen.append([strip.text.rstrip() for strip in app.screen._compositor.render_strips()])

        asyncio.run(run())
    return seen


def type_at_once(app: DebugApp, key: str) -> None:
    """Press a key by its name, or those of a line."""
    is_name = key in ("enter", "escape", "left", "down")
    for sign in [key] if is_name else key:
        app.post_message(Key(SIGNS.get(sign, sign), None if is_name else sign))


async def until_it_stands(app: DebugApp, pilot: Pilot[None]) -> None:
    await pilot.pause()
    while app._debugger.target is not None:
        await pilot.pause(0.01)
    await pilot.pause()


def test_a_run_stops_at_the_difference_and_a_step_back_an_edit_and_the_forks_are_shown() -> None:
    _, stopped, *_, lines = screens("c", "left", "e", "hp = 1", "enter", "7")
    assert stopped[0] == f"{'orchard, fork 0 of 1, step 47':<55}{'plain and restless differ':>25}"
    assert stopped[1].split() == ["plain", "restless"]
    assert stopped[2].split() == [".", "W", ".", "."] * 2
    assert [line.split() for line in stopped[6:9]] == [
        ["differences", "plain", "restless"],
        ["observation[0:", "hp]", "1.0", "0.6666666865348816"],
        ["state.hp", "3", "2"],
    ]
    assert "Stopped at step 47: differs." in stopped
    assert lines[0].startswith("orchard, fork 1 of 2, step 46, next rest (5)")
    assert lines[6:8] == ["  0: seed 3, to step 47, differs at step 47", "*   1: state.hp = 1 at step 46, to step 46"]
    assert "Fork 1, step 46: state.hp = 1." in lines


def test_each_panel_has_its_key() -> None:
    expected = {
        "2": ["step", "-10", "-10"],
        "3": ["move", "(O-MOVE)", "1", "1"],
        "4": ["5", "rest", "true", "true"],
        "5": ["place", "6", "1.0", "1.0"],
        "6": ["apples[0].cell", "2", "2"],
        "?": ["left", "p", "back", "[STEPS]:", "go", "back", "one", "step,", "or", "several"],
    }
    *panels, scrolled = screens(":", "step up", "enter", *expected, "down")[4:]
    assert scrolled[6:] != panels[-1][6:]
    for line, lines in zip(expected.values(), panels, strict=True):
        assert line in [each.split() for each in lines]
        assert "Fork 0, step 1: up (0)." in lines


def test_phases_are_shown_with_their_words() -> None:
    lines = screens("8", "c")[2]
    assert [line.split() for line in lines[6:13]] == [
        ["phases", "plain", "restless"],
        ["The", "engines", "first", "differ", "in", "phase", "'walker'."],
        ["walker"],
        ["state.hp", "3", "2"],
        ["flight"],
        ["state.hp", "3", "2"],
        ["word", "47", "0", "1433909409", "1433909409"],
    ]


def test_rules_are_shown_with_their_texts_and_source_lines() -> None:
    rules = screens("9", "n", engines=("plain", "planes"))[2]
    assert "O-WASP After each valid action the wasp flies one cell in a drawn direction." in rules
    source = Path(plain.__file__).read_text().splitlines()
    (at,) = (number for number, text in enumerate(source, 1) if text.strip() == 'self.marks["wasp"] += 1')
    assert any(each.startswith(f"  wasp  plain  plain.py:{at}") for each in rules)


def test_a_wrong_command_is_a_message_and_escape_closes_the_line() -> None:
    wrong = screens(":", "stepp", "enter", "e", "hp = 9", "enter", "e", "hp", "escape", "n")
    assert "there is no command 'stepp' (did you mean 'step'?): ? lists them." in wrong[3]
    assert "state.hp cannot be 9: hp 9 lies outside 0 … 3." in wrong[6]
    assert wrong[8][-1] == "set hp"
    assert wrong[9][-1] == ""
    assert wrong[10][0].startswith("orchard, fork 0 of 1, step 1")


def test_a_command_that_arrives_at_once_is_carried_out_once() -> None:
    async def run(app: DebugApp) -> None:
        async with app.run_test(size=(80, 24)) as pilot:
            type_at_once(app, ":step up")
            type_at_once(app, "enter")
            await until_it_stands(app, pilot)

    with Session(SPEC, seed=3) as session:
        debugger = Debugger(session)
        asyncio.run(run(DebugApp(debugger)))
        assert (debugger.message, session.position) == ("Fork 0, step 1: up (0).", 1)


def test_commands_reach_the_whole_session(tmp_path: Path) -> None:
    with Session(SPEC, ("plain", "restless"), seed=3) as session:
        debugger = Debugger(session)

        def do(line: str, run: bool = True) -> str:
            debugger.do(line)
            while run and debugger.target is not None:
                debugger.advance()
            return debugger.message

        assert do("break hp < 2") == "Breakpoints: differs, hp < 2."
        assert do("break hq < 2").startswith("'hq' is no field")
        assert debugger.is_refusal
        assert do("continue") == "Stopped at step 23: hp < 2."
        assert do("return") == "Stopped at step 0: the game begins."
        assert do("delete hp < 2") == "Breakpoints: differs."
        assert do("continue action pick").startswith("Stopped at step")
        assert do("continue") == "Stopped at step 47: differs."
        assert do(f"save {tmp_path / 'trace.json'}").startswith("Saved 47 actions")
        assert do(f"shrink {tmp_path / 'small.json'}").startswith("Saved 1 action in")
        assert do(f"test {tmp_path / 'test_it.py'}").startswith("Saved as a test")
        assert do("save") == "'' names no file: give its path."
        assert do("test a\0b") == r"'a\x00b' names no file: give its path."
        assert do("break differs") == "Breakpoints: differs."
        assert do("back 5") == "Fork 0, step 42: up (0)."
        assert do("fork") == "Fork 1, step 42: up (0)."
        assert do("step rest") == "Fork 1, step 43: rest (5)."
        assert do("switch 0") == "Fork 0, step 42: up (0)."
        assert do("go 47") == "Fork 0, step 47: rest (5)."
        assert do("go far") == "'far' is no whole number of at most 20 digits: give one."
        assert do(f"back {'1' * 5000}").endswith("...' is no whole number of at most 20 digits: give one.")
        assert do(f"set hp = {'[' * 100_000}") == "state.hp takes a value of type int, not str: give one."
        assert do(f"back {10**19}") == "the game began 47 steps ago: go back no further."
        assert do("set hp") == "'hp' is no NAME = VALUE, such as hp = 1: give both."
        do("continue", run=False)
        debugger.stop()
        assert debugger.message == "Stopped at step 47."


def test_without_a_screen_the_command_says_where_it_stopped_and_writes_a_test(tmp_path: Path) -> None:
    path = tmp_path / "test_it.py"
    ran = rlparity("debug", "--engines", "plain,restless", "--seed", "3", "--until", "differs", "--write-test", path)
    assert ran.code == 1
    assert ran.out.splitlines()[:3] == [
        "Step 47, rest (5): differs.",
        "observation[0: hp]: 1.0 and 0.6666666865348816",
        "state.hp: 3 and 2",
    ]
    test: Callable[[], None] = runpy.run_path(str(path))["test_engines_agree"]
    with pytest.raises(AssertionError, match="plain and restless differ after 47 actions"):
        test()
    answer = rlparity("debug", "--engines", "planes", "--until", "hp < 2", "--seed", "3", "--json")
    assert (answer.code, answer.json["step"], answer.json["stopped"]) == (0, 23, "hp < 2")
    assert answer.json["state"]["hp"] == 1
    seeded = rlparity("debug", "--seed", "3", "--actions", "rest,0, up", "--until", "action pick")
    assert seeded.out.startswith("Step 3, up (0): the actions end.")
    saved = tmp_path / "trace.json"
    with Session(SPEC, ("plain", "restless"), case=Case((REST,) * 3, seed=3)) as session:
        session.go(3)
        session.save(saved)
    assert rlparity("debug", saved, "--until", "action rest").out.startswith("Step 1, rest (5): action rest.")


def test_without_a_terminal_or_textual_the_screen_is_refused_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "needs a terminal: run it in one, or give --until CONDITION" in rlparity("debug").refusal()
    monkeypatch.setattr("rlparity.debug.attach.find_spec", lambda _: None)
    assert "needs textual: run" in rlparity("debug").refusal()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_command_and_leaves_the_terminal_as_before(number: signal.Signals) -> None:
    def act(terminal: int, wait_for: Callable[[str], None], process: int) -> None:
        wait_for("step 0")
        os.kill(process, number)

    words = [sys.executable, "-m", "rlparity", "debug", "--world", SPEC]
    before = signal.signal(number, signal.SIG_IGN)  # as under nohup, which is none of a command in a terminal
    try:
        output, code, is_as_before = in_terminal(words, act, (30, 100), PYTHONPATH=os.pathsep.join(sys.path))
    finally:
        signal.signal(number, before)
    assert (code, is_as_before) == (-number, True)
    assert "\x1b[?1049l" in output


def test_a_run_opens_the_screen_at_its_first_divergence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shown: list[str] = []
    monkeypatch.setattr(
        "rlparity.debug.attach.show", lambda session: shown.append(str(panes.title(Debugger(session), 80)))
    )
    monkeypatch.setattr("rlparity.cli.commands.check_screen", lambda otherwise: None)
    words = "--engines", "plain,restless", "--games", "4", "--seed", "3", "--no-report", "--price", "fruit=0.2"
    ran = rlparity("run", *words, "--debug", "--out", tmp_path)
    assert (ran.code, len(shown)) == (1, 1)
    assert shown[0].endswith("plain and restless differ")
    assert rlparity("run", "--engines", "plain,planes", "--games", "2", "--steps", "20", "--debug").code == 0
    assert len(shown) == 1
    assert "leave one out" in rlparity("run", *words, "--debug", "--json").refusal()
    monkeypatch.undo()
    assert "the screen needs a terminal: run it in one, or leave --debug out" in rlparity("run", "--debug").refusal()
