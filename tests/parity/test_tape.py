"""Tapes: a recorded engine stands in for the original, and what is broken or does not fit is one sentence."""

import hashlib
import json
import lzma
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import ORCHARD, orchard, rlparity
from faulty_orchard import WORLD
from written_page import episode_data, page_data

from rlparity import UsageError, World
from rlparity.core.lockstep import Outcome, Settings, run
from rlparity.core.prices import changed_prices
from rlparity.core.trace import read_trace
from rlparity.engines.places import with_remote_engines
from rlparity.engines.tape import read_tape
from rlparity.testing import assert_lockstep
from rlparity.tools.recording import record_tape

WORDS = "--source", "directed", "--games", "8", "--steps", "40", "--seed", "7"
SETTINGS = Settings("directed", steps=40, games=8, seed=7)
COMPLETE = "--states", "--marks"


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tape of ``plain`` with states and marks; only read it."""
    folder = tmp_path_factory.mktemp("tapes") / "plain"
    assert rlparity("record", *WORDS, *COMPLETE, "--tape", folder).code == 0
    return folder


@pytest.fixture
def tape(recorded: Path, tmp_path: Path) -> Path:
    """A copy of that tape, to be spoilt."""
    return Path(shutil.copytree(recorded, tmp_path / "tape"))


def against(folder: Path, other: str, world: World = WORLD, **settings: object) -> Outcome:
    """A run of a tape and an engine."""
    name = f"tape:{folder}"
    return run(with_remote_engines(world, ORCHARD, [name]), (name, other), replace(Settings(), **settings))  # type: ignore[arg-type]


def test_another_engine_is_held_to_the_calls_that_were_recorded(recorded: Path) -> None:
    live = run(WORLD, ("plain", "planes"), replace(SETTINGS, marks=True))
    found = against(recorded, "planes", marks=True)
    assert (found.divergences, found.steps, found.episodes) == ([], 320, live.episodes)
    assert [side.tolist() for side in found.marks] == [live.marks[0].tolist()] * 2
    again = rlparity("coverage", "--engines", f"tape:{recorded},planes", "--json").json
    assert (again["verdict"], again["seed"], again["games"], again["source"]) == ("PASS", 7, 8, "directed")
    assert again["unequal_marks"] == []


@pytest.mark.parametrize(
    ("faulty", "mode", "auto_reset"),
    [
        ("restless", "strict", True),
        ("forgetful", "strict", False),
        ("double", "injected", False),
        ("planes", "injected", False),
        ("restless", "resynchronised", False),
    ],
)
def test_the_first_difference_is_that_of_a_live_run(faulty: str, mode: str, auto_reset: bool, tmp_path: Path) -> None:
    settings = Settings(steps=40, games=8, seed=1, auto_reset=auto_reset, mode=mode)
    record_tape(WORLD, "plain", settings, tmp_path)
    live, found = run(WORLD, ("plain", faulty), settings), against(tmp_path, faulty)
    assert found.divergences == live.divergences
    assert found.steps == live.steps


def test_all_diverging_games_are_collected(recorded: Path) -> None:
    found = against(recorded, "restless", stop_after=8)
    assert len({each.game for each in found.divergences}) == len(found.divergences) > 1
    assert rlparity("run", "--engines", f"tape:{recorded},restless", "--max-divergences", "8", "--no-report").code == 1


def test_a_difference_is_written_as_it_was_found(recorded: Path, tmp_path: Path) -> None:
    engines = f"tape:{recorded},restless"
    ran = rlparity("run", "--engines", engines, "--out", tmp_path)
    assert (ran.code, "not shrunk: a tape plays no other games" in ran.out) == (1, True)
    assert f"--engines {engines}" in ran.out
    trace = read_trace(tmp_path / "trace.json")
    (divergence,) = against(recorded, "restless").divergences
    assert (trace.case, trace.differences) == (divergence.case, divergence.differences)
    text = (tmp_path / "trace.html").read_text(encoding="utf-8")
    *_, last = episode_data(text, 0)["steps"]
    assert page_data(text)["sides"] == engines.split(",")
    assert last["boards"][0] != last["boards"][1]
    # the original can play the game again, and the tape says that it cannot
    replay = "replay", tmp_path / "trace.json"
    assert rlparity(*replay, "--engines", "plain,restless").code == 1
    assert "which plays no other games" in rlparity(*replay).refusal()
    assert "only rlparity run --engines tape:DIR,B plays it" in rlparity(*replay, "--engines", engines).refusal()
    assert "leave --noise out" in rlparity("run", "--engines", engines, "--noise", "1").refusal()


def test_marks_that_differ_are_found_in_no_certain_game(recorded: Path, tmp_path: Path) -> None:
    ran = rlparity("coverage", "--engines", f"tape:{recorded},miscounting", "--out", tmp_path, "--json")
    (divergence,) = ran.json["divergences"]
    assert (ran.code, divergence["fields"]) == (1, ["marks[sting]"])


def test_states_and_marks_that_were_not_recorded_are_not_compared(tmp_path: Path) -> None:
    tape = record_tape(WORLD, "plain", Settings(steps=80, games=8), tmp_path / "tape", states=False)
    assert tape.unknown == {"state", "marks"}
    assert against(tmp_path / "tape", "planes").divergences == []
    (found,) = against(tmp_path / "tape", "restless").divergences
    assert {each.field for each in found.differences} == {"observation[0: hp]"}
    # the page shows nothing where nothing is known
    engines = f"tape:{tmp_path / 'tape'},restless"
    assert rlparity("run", "--engines", engines, "--out", tmp_path).code == 1
    boards = episode_data((tmp_path / "trace.html").read_text(encoding="utf-8"), 0)["steps"][-1]["boards"]
    assert boards[0] != boards[1]
    assert "record it with --marks" in rlparity("coverage", "--engines", engines).refusal()


def test_prices_are_those_of_the_tape(tmp_path: Path) -> None:
    folder = tmp_path / "tape"
    assert rlparity("record", *WORDS, "--tape", folder, "--price", "fruit=0.3").code == 0
    engines = "--engines", f"tape:{folder},planes"
    assert rlparity("run", *engines, "--json").json["prices"] == {"fruit": 0.3}
    assert rlparity("run", *engines, "--price", "fruit=0.3").code == 0
    assert "recorded at other prices" in rlparity("run", *engines, "--price", "fruit=0.2").refusal()
    assert changed_prices(with_remote_engines(WORLD, ORCHARD, [engines[1].split(",")[0]])) == {"fruit": 0.3}
    assert_lockstep(WORLD, (engines[1].split(",")[0], "planes"))


def test_flags_that_contradict_the_tape_are_refused(recorded: Path) -> None:
    run_tape = "run", "--engines", f"tape:{recorded},planes"
    for flags in (["--steps=41"], ["--seed", "0"], ["--source", "uniform"], ["--auto-reset"], ["--mode", "injected"]):
        said = rlparity(*run_tape, *flags).refusal()
        assert f"the tape was recorded with another {flags[0].partition('=')[0]}" in said
    assert rlparity(*run_tape, "--steps", "40", "--seed", "7").code == 0


def _edit_manifest(folder: Path) -> None:
    path = folder / "tape.json"
    path.write_text(path.read_text().replace('"steps": 40', '"steps": 39'))


def _edit_chunk(folder: Path) -> None:
    (path,) = folder.glob("*.xz")
    content = bytearray(lzma.decompress(path.read_bytes()))
    content[-1] ^= 1
    path.write_bytes(lzma.compress(content))


def _forge(content: bytes, **changes: object) -> Callable[[Path], None]:
    """Replace the chunk and other values, so that every hash is right."""

    def forge(folder: Path) -> None:
        value = json.loads((folder / "tape.json").read_text())
        sha = hashlib.sha256(content).hexdigest()
        (folder / f"{sha}.xz").write_bytes(lzma.compress(content))
        value |= {"chunks": [sha], **changes}
        del value["digest"]
        value["digest"] = hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
        (folder / "tape.json").write_text(json.dumps(value))

    return forge


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda folder: (folder / "tape.json").unlink(), "there is no tape .*tape.json"),
        (_edit_manifest, "tape.json is broken, edited or of another version"),
        (lambda folder: (folder / "tape.json").write_text("{"), "tape.json cannot be read as a tape: it is no JSON"),
        (lambda folder: next(folder.glob("*.xz")).unlink(), "there is no chunk of the tape .*xz"),
        (lambda folder: next(folder.glob("*.xz")).write_bytes(b"no"), "xz (cannot be read|is broken)"),
        (_edit_chunk, "xz is broken or edited, as its SHA-256 shows"),
        (_forge(b"\x02\0\0\0{}"), "holds an invalid call"),
        (_forge(b"", unknown=["hope"]), "tape.json is broken, edited or of another version"),
    ],
)
def test_a_tape_that_is_not_whole_is_refused(spoil: Callable[[Path], None], said: str, tape: Path) -> None:
    spoil(tape)
    assert re.search(said, rlparity("run", "--engines", f"tape:{tape},planes").refusal())


def test_a_tape_of_another_version_of_the_world_is_refused(recorded: Path) -> None:
    engines = "--engines", f"tape:{recorded},planes"
    for part, other in {"actions": ("jump", *WORLD.actions[1:]), "marks": {**WORLD.marks, "new": "O-NEW"}}.items():
        said = rlparity("run", *engines, world=orchard(**{part: other})).refusal()
        assert f"of another version of world 'orchard', with other {part}" in said


def test_recording_overwrites_nothing_and_asks_for_what_it_needs(recorded: Path, tmp_path: Path) -> None:
    before = read_tape(recorded)
    assert "there is a tape in" in rlparity("record", *WORDS, "--tape", recorded).refusal()
    assert read_tape(recorded) == before
    assert "go with --tape DIR" in rlparity("record", "--states").refusal()
    assert "has no --output" in rlparity("record", *WORDS, "--out", tmp_path, "--tape", tmp_path / "tape").refusal()
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / ("n" * 300)):
        assert "cannot be written" in rlparity("record", *WORDS, "--tape", folder).refusal()
    failed = rlparity("record", "--engines", "dying,plain", *WORDS, "--tape", tmp_path / "dying")
    assert "engine 'dying' failed in step" in failed.refusal(3)
    assert not (tmp_path / "dying" / "tape.json").exists()


def test_the_same_run_has_the_same_digest(recorded: Path, tmp_path: Path) -> None:
    ran = rlparity("record", *WORDS, *COMPLETE, "--tape", tmp_path / "again", "--json")
    assert ran.json["digest"] == json.loads((recorded / "tape.json").read_text())["digest"]
    assert sorted(path.name for path in (tmp_path / "again").iterdir()) == sorted(
        path.name for path in recorded.iterdir()
    )


def test_long_runs_are_in_several_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rlparity.tools.recording._CHUNK", 20_000)
    tape = record_tape(WORLD.with_prices({"step": 0}), "plain", SETTINGS, tmp_path)
    assert len(tape.chunks) > 3
    assert against(tmp_path, "planes").divergences == []
    (tmp_path / f"{tape.chunks[-1]}.xz").unlink()
    with pytest.raises(UsageError, match=tape.chunks[-1]):
        against(tmp_path, "planes")


def test_an_interrupted_recording_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rlparity.tools.recording._CHUNK", 5_000)
    folder, steps = tmp_path / "tape", iter(range(20))

    def interrupt() -> None:
        if next(steps, None) is None:
            assert list(folder.glob("*.xz"))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        record_tape(WORLD, "plain", SETTINGS, folder, progress=interrupt)
    assert not folder.exists()
