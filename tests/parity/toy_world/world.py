"""Orchard as the harness knows it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rlparity import Board, Mutant, MutationBench, Price, State, UsageError, View, World
from rlparity.agent import Judge
from rlparity.io.safe_read import MIB, Unreadable, read_json
from toy_world import faulty
from toy_world.plain import PlainEngine
from toy_world.planes import PlanesEngine

HERE = Path(__file__).parent
APPLE = "●"


def draw_board(state: State) -> Board:
    """Apples with their ripeness, the walker W and the wasp w."""
    texts = [""] * 16
    for apple in state["apples"]:
        texts[apple["cell"]] += APPLE * apple["ripeness"]
    texts[state["wasp"]] += " w"
    texts[state["walker"]] += " W"
    rows = tuple(tuple(text.strip() for text in texts[4 * row : 4 * row + 4]) for row in range(4))
    return Board(rows, {name: state[name] for name in ("hp", "score", "turn", "seed")})


def observation_label(place: tuple[int, ...]) -> str:
    """hp, score, fruit CELL, place CELL."""
    (index,) = place
    return ("hp", "score")[index] if index < 2 else f"{'fruit' if index < 18 else 'place'} {(index - 2) % 16}"


def end_game(rng: np.random.Generator) -> State:
    """One apple left, the wasp close, much picked already."""
    walker = int(rng.integers(16))
    return {
        "seed": int(rng.integers(2**63)),
        "walker": walker,
        "wasp": (walker + 1) % 16,
        "hp": int(rng.integers(1, 4)),
        "score": int(rng.integers(10)),
        "turn": int(rng.integers(50)),
        "apples": [{"cell": int(rng.integers(16)), "ripeness": int(rng.integers(1, 4))}],
    }


def greedy(view: View) -> NDArray[np.float64]:
    """Picks wherever it can."""
    return np.where(np.arange(6) == 4, 20.0, 1.0) * np.ones((len(view.mask), 1))


def sleepy(view: View) -> NDArray[np.float64]:
    """Rests when the states say that hp is low."""
    low = np.array([state["hp"] == 1 for state in view.states()])
    return np.where((np.arange(6) == 5) & low[:, None], 20.0, 1.0)


def read_agent(world: World, path: Path) -> Judge:
    """A file with six weights as a JSON list."""
    try:
        with np.errstate(divide="ignore"):
            logits = np.log(np.array(read_json(path, MIB), dtype=np.float64))
    except (Unreadable, ValueError, TypeError) as error:
        raise UsageError(f"{path} is no agent: {error}.") from error
    return lambda seen, mask: (np.broadcast_to(logits, mask.shape), np.zeros(len(seen)))


def fewer_apples(state: State) -> Iterator[State]:
    """One apple less."""
    for index in range(len(state["apples"])):
        yield {**state, "apples": state["apples"][:index] + state["apples"][index + 1 :]}


def smaller_numbers(state: State) -> Iterator[State]:
    """A smaller number."""
    for name in ("seed", "turn", "score", "hp", "wasp", "walker"):
        for value in (0, state[name] // 2, state[name] - 1):
            if 0 <= value < state[name]:
                yield {**state, name: value}


MUTANTS = (
    Mutant("sting-is-cheap", "toy_world/planes.py", "(-10, 100, -500)", "(-10, 100, -499)", ("O-STING", "O-REWARD")),
    Mutant("no-op", "toy_world/planes.py", "splitmix64's finaliser.", "the finaliser.", ("O-DRAW",)),
)

WORLD = World(
    name="orchard",
    engines={
        "plain": PlainEngine,
        "planes": PlanesEngine,
        "restless": faulty.RestlessEngine,
        "miscounting": faulty.MiscountingEngine,
        "forgetful": faulty.ForgetfulEngine,
        "nan": faulty.NanEngine,
        "leaky": faulty.LeakyEngine,
        "double": faulty.DoubleEngine,
        "dying": faulty.DyingEngine,
        "hungry": faulty.HungryEngine,
        "quitting": faulty.QuittingEngine,
        "hanging": faulty.HangingEngine,
    },
    actions=("up", "down", "left", "right", "pick", "rest"),
    components=("step", "fruit", "sting"),
    observation_shape=(34,),
    state_fields=("seed", "walker", "wasp", "hp", "score", "turn", "apples"),
    draw=draw_board,
    component_unit=0.001,
    prices=(
        Price("step", -10, -1000, 1000),
        Price("fruit", 100, -10_000, 10_000),
        Price("sting", -500, -10_000, 10_000),
    ),
    observation_label=observation_label,
    marks={
        "start": "O-START",
        "start.empty": "O-START",
        "move": "O-MOVE",
        "pick": "O-PICK",
        "rest": "O-REST",
        "invalid": "O-INVALID",
        "wasp": "O-WASP",
        "sting": "O-STING",
        "end.picked": "O-END",
        "end.dead": "O-END",
        "next": "O-NEXT",
    },
    starts={"end game": end_game},
    policies={"greedy": greedy, "sleepy": sleepy},
    read_agent=read_agent,
    shrinkers=(fewer_apples, smaller_numbers),
    rule_book=HERE / "rules.md",
    sources={"plain": HERE / "plain.py", "planes": HERE / "planes.py", "restless": HERE / "faulty.py"},
    golden=HERE / "golden",
    benches=(
        MutationBench(
            engine="planes",
            reference="plain",
            source=HERE.parent,
            mutants=MUTANTS,
            environment=lambda copy: {"PYTHONPATH": str(copy)},
            ignore=("__pycache__", "test_*.py"),
        ),
    ),
)
