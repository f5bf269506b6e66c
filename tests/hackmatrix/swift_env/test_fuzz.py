"""No input harms the binary: thousands of mutated messages in both modes, and after every refusal all is as it was."""

import json
import os
import random
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest

from hackmatrix import rules
from hackmatrix.exploration.starts import STARTS
from hackmatrix.prices import PRICES
from hackmatrix.swift_env import SwiftEngine
from hackmatrix.swift_env.process import SwiftProcess, binary_path
from hackmatrix.swift_env.protocol import FrameCommand, games_of, hello, request, states_with_games

pytestmark = pytest.mark.usefixtures("swift_built")

GAMES = 3
NUMBERS = (0, -1, 1, 3, 27, 28, 255, 9999, 10_000, 2**31, 2**32, 2**53, 2**64 - 1, 2**64, -(2**63), 10**400, 0.5, 1e308)
TEXTS = ("", "virus", "push", "7", "\U0001f409")
JUNK: tuple[Any, ...] = (*NUMBERS, *TEXTS, None, True, False, [], {}, [[]], [None], {"row": 1})


def states(rng: random.Random) -> list[dict[str, Any]]:
    draws = np.random.default_rng(rng.getrandbits(32))
    return [make(draws) for make in STARTS.values() for _ in range(3)]


# ------------------------------------------------------------------------------------------ JSON mode


def valid_commands(rng: random.Random) -> list[dict[str, Any]]:
    plain = ["getState", "getValidActions", "getActionSpace", "getObservationSpace", "getInternalState"]
    return [
        {"action": "reset", "seed": rng.getrandbits(53)},
        *({"action": "step", "actionIndex": action} for action in range(rules.NUM_ACTIONS)),
        *({"action": "setState", "state": state} for state in states(rng)),
        {"action": "setPrices", "prices": {"kills": rng.randrange(1000), "death_penalty_3": -7}},
        *({"action": action} for action in plain),
    ]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401 - any JSON value
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inside:
        yield (*path, key)
        yield from places(part, (*path, key))


def with_junk(rng: random.Random, command: dict[str, Any]) -> bytes:
    """The command with something inside replaced, removed, added or doubled."""
    copy = json.loads(json.dumps(command))
    *way, last = rng.choice(list(places(copy)))
    holder = copy
    for key in way:
        holder = holder[key]
    kind = rng.randrange(4)
    if kind == 0:
        holder[last] = rng.choice(JUNK)
    elif kind == 1:
        del holder[last]
    elif isinstance(holder, list):
        holder.append(holder[last] if kind == 2 else rng.choice(JUNK))
    else:
        holder[rng.choice(["extra", "row", "seed", "Hp", last])] = rng.choice(JUNK)
    return json.dumps(copy).encode()


def with_broken_bytes(rng: random.Random, text: bytes) -> bytes:
    """The text with a slice cut, doubled, or overwritten by bytes that need not be UTF-8."""
    start = rng.randrange(len(text))
    end = min(len(text), start + rng.choice([1, 1, 2, 8, 64]))
    signs = [b'"', b"}", b"[" * 600, b"\xff\xfe", b"\\ud800", b"1e999", b"\x00", b""]
    middle = rng.choice([b"", text[start:end] * 2, rng.choice([rng.randbytes(end - start), *signs])])
    return text[:start] + middle + (b"" if rng.random() < 0.1 else text[end:])


def mutated_lines(count: int, seed: int) -> Iterator[bytes]:
    rng = random.Random(seed)
    commands = valid_commands(rng)
    for number in range(count):
        if number % 5_000 == 4_999:
            commands = valid_commands(rng)
        command = rng.choice(commands)
        line = with_junk(rng, command) if rng.random() < 0.5 else with_broken_bytes(rng, json.dumps(command).encode())
        yield line.replace(b"\n", b" ").replace(b"\r", b" ")


def answers(lines: Iterable[bytes]) -> list[bytes]:
    """The answers of the binary in JSON mode to some lines."""
    asked = b"".join(line + b"\n" for line in lines)
    done = subprocess.run([binary_path(), "--headless-cli"], input=asked, stdout=subprocess.PIPE, check=True)
    return done.stdout.splitlines()


@pytest.mark.parametrize("count", [1_000, pytest.param(40_000, marks=pytest.mark.long)])
def test_mutated_json_messages_leave_the_game_as_it_was(count: int) -> None:
    asked = b'{"action":"getState"}'
    beginning = [b'{"action":"step","actionIndex":0}', asked, b'{"action":"reset","seed":1}', asked]  # no game at first
    mutated = [line for message in mutated_lines(count, seed=1) for line in (message, asked)]
    *refused, _, before = (told := answers([*beginning, *mutated]))[: len(beginning)]
    assert all(b"error" in answer for answer in refused)
    seen: Counter[str] = Counter()
    for number, (answer, after) in enumerate(zip(told[4::2], told[5::2], strict=True)):
        said = json.loads(answer)
        if "error" in said:
            assert after == before, f"message {number} was refused ({said['error']}) and changed the game"
            assert isinstance(said["error"], str)
        seen["refused" if "error" in said else "accepted"] += 1
        before = after
    assert seen.total() == count
    assert seen["refused"] > count // 2
    assert seen["accepted"] > count // 20


def test_both_modes_play_the_same_games_with_the_same_rewards_and_valid_actions() -> None:
    rng, rewards = np.random.default_rng(2), [np.float32(0)]
    lines: list[dict[str, Any]] = [{"action": "reset", "seed": 5}]
    masks: list[list[int]] = []
    with SwiftEngine(1) as engine:
        engine.reset(np.array([5], np.uint64), np.arange(1))
        is_over = False
        while not is_over and len(masks) < 60:
            masks.append(np.flatnonzero(engine.mask()[0]).tolist())
            action = int(rng.choice(masks[-1]))
            lines.append({"action": "step", "actionIndex": action})
            step = engine.step(np.array([action], np.int32))
            rewards.append(np.float32(step.components[0].sum()) / np.float32(1000))
            is_over = bool(step.terminated[0])
        (state,) = engine.get_state(np.arange(1))
    lines.append({"action": "getState"})
    *told, last = (json.loads(answer) for answer in answers(json.dumps(line).encode() for line in lines))
    assert last["state"] == state
    assert [answer["validActions"] for answer in told[: len(masks)]] == masks
    assert [np.float32(answer.get("reward", 0)) for answer in told] == rewards
    assert len({*rewards}) > 2


BY_NAME = {price.name: 10_007 + 101 * place for place, price in enumerate(PRICES)}
UNDO = 14
TO_UNDO = {
    "player": {"row": 0, "col": 0, "credits": 9},
    "ownedPrograms": [UNDO],
    "history": {"player": {"row": 0, "col": 0, "credits": 9}},
    "killsSinceHistory": 4,
    "pickupsSinceHistory": 1,
}


def test_prices_by_name_are_those_of_the_declaration_and_are_paid() -> None:
    commands = (
        {"action": "setPrices", "prices": BY_NAME},
        {"action": "setState", "state": TO_UNDO},
        {"action": "step", "actionIndex": UNDO},
    )
    told, _, undone = map(json.loads, answers(json.dumps(command).encode() for command in commands))
    assert told == {"prices": BY_NAME}
    breakdown = {name: value for name, value in undone["info"]["reward_breakdown"].items() if value}
    assert breakdown == {
        "step_penalty": BY_NAME["step_penalty"] / 1000,
        "kills": -4 * BY_NAME["kills"] / 1000,
        "data_siphon": -BY_NAME["data_siphon"] / 1000,
        "resource_gain": -BY_NAME["resource_gain"] / 1000,
    }


MONSTROUS = {
    "empty": b"",
    "blank": b" ",
    "null": b"null",
    "deep-list": b"[" * 1_000_000,
    "deep-object": b'{"action":' * 100_000,
    "not-utf8": b"\xff" * 1000,
    "10-MB": b'{"action":"setState","state":"' + b"x" * 10_000_000 + b'"}',
    "many-enemies": b'{"action":"setState","state":{"player":{"row":0,"col":0},"enemies":['
    + b"{}," * 300_000
    + b"{}]}}",
    "20-MB": b"x" * 20_000_000,
    "huge-number": b'{"action":"step","actionIndex":1' + b"0" * 100_000 + b"}",
}


def test_a_monstrous_line_is_refused_in_one_sentence() -> None:
    asked = b'{"action":"getState"}'
    lines = [line for monstrous in MONSTROUS.values() for line in (monstrous, asked)]
    reset, before, *told = answers([b'{"action":"reset","seed":1}', asked, *lines])
    assert b"observation" in reset
    for what, answer, after in zip(MONSTROUS, told[::2], told[1::2], strict=True):
        assert "error" in json.loads(answer), what
        assert len(answer) < 1000, what
        assert after == before, what


# ---------------------------------------------------------------------------------------- binary mode


def valid_frames(rng: random.Random, made: list[dict[str, Any]]) -> bytes:
    games = np.array(rng.sample(range(GAMES), rng.randint(1, GAMES)))
    seeds = np.array([rng.getrandbits(64) for _ in games], "<u8")
    chosen = games_of(games)
    state = json.dumps(rng.choice(made)).encode()
    steps = np.array([rng.randrange(rules.NUM_ACTIONS) for _ in range(GAMES)], "<i4")
    frames = [
        hello(),
        request(FrameCommand.OPEN, GAMES, rng.randrange(3), np.arange(GAMES, dtype="<u8")),
        request(FrameCommand.STEP, 0, steps, np.zeros(GAMES, "u1")),
        request(FrameCommand.RESET, chosen, seeds),
        request(FrameCommand.SET_STATES, states_with_games([rng.choice(made) for _ in games], games)),
        request(FrameCommand.SET_OBSERVATION, rng.randrange(3)),
        request(FrameCommand.SET_PRICES, np.array([rng.randrange(1000) for _ in range(30)], "<i4")),
        request(FrameCommand.SHARE, rng.randrange(100), rng.getrandbits(32)),
        request(FrameCommand.GET_PHASES, rng.randrange(rules.NUM_ACTIONS), len(state), state),
        request(FrameCommand.PLACE, 8 * rng.randrange(100), request(FrameCommand.RESTART, chosen)),
    ]
    plain = (FrameCommand.OBSERVE, FrameCommand.GET_MARKS, FrameCommand.RESET_MARKS, FrameCommand.GET_RULES)
    of_games = (FrameCommand.GET_STATES, FrameCommand.GET_PACKED_STATES, FrameCommand.RESTART)
    return rng.choice([*frames, *map(request, plain), *(request(command, chosen) for command in of_games)])


def mutated_frame(rng: random.Random, frame: bytes) -> bytes:
    """The frame cut, lengthened, with bytes overwritten, or with a wild number in place of four of them."""
    start, wild = rng.randrange(len(frame)), rng.randbytes(rng.randint(1, 4))
    match rng.randrange(4):
        case 0:
            return frame[:start]
        case 1:
            return frame + rng.randbytes(rng.choice([1, 4, 100]))
        case 2:
            start -= start % 4
            wild = rng.choice([0, 1, 4, 12, 13, 28, 2**31, 2**32 - 1]).to_bytes(4, "little")
    return frame[:start] + wild + frame[start + len(wild) :]


@pytest.mark.parametrize("count", [1_000, pytest.param(65_000, marks=pytest.mark.long)])
def test_mutated_frames_leave_the_games_as_they_were(count: int) -> None:
    rng = random.Random(2)
    made = states(rng)
    asked = request(FrameCommand.GET_PACKED_STATES, games_of(None))
    process = SwiftProcess()

    def ask(frame: bytes) -> bytes:
        process.send(frame)
        return process.receive().tobytes()

    assert ask(request(FrameCommand.OBSERVE))[:4] == b"\1\0\0\0"  # before hello
    assert ask(hello())[:4] == b"\0\0\0\0"
    assert ask(asked)[:4] == b"\1\0\0\0"  # before open
    assert ask(request(FrameCommand.OPEN, GAMES, 2, np.arange(GAMES, dtype="<u8")))[:4] == b"\0\0\0\0"
    before = ask(asked)
    seen: Counter[str] = Counter()
    for number in range(count):
        frame = mutated_frame(rng, valid_frames(rng, made))
        answer = ask(frame)
        after = ask(asked)
        if answer[:4] == b"\1\0\0\0":
            assert after == before, f"frame {number} was refused ({answer[4:]!r}) and changed a game"
            assert answer[4:].decode()
            seen["refused"] += 1
        else:
            seen["accepted"] += 1
        before = after
    process.close()
    assert seen["refused"] > count // 2
    assert seen["accepted"] > count // 20


@pytest.mark.parametrize(
    "sent", [b"", b"\x08", b"\x08\0\0\0", b"\x08\0\0\0\0\0", b"\xff\xff\xff\xff", b"\xff\xff\xff\xffabc"]
)
def test_the_engine_ends_quietly_when_its_input_does(sent: bytes) -> None:
    """Half a length, half a frame, a length that nobody can mean."""
    done = subprocess.run([binary_path(), "--binary"], input=sent, capture_output=True, timeout=20, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_engine_ends_quietly_when_nobody_reads_its_answers() -> None:
    lines = b'{"action":"reset","seed":1}\n' * 1000
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([binary_path(), "--headless-cli"], input=lines, stdout=writing, timeout=10, check=False)
    os.close(writing)
    assert done.returncode == 0
