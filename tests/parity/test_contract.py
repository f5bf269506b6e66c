"""An engine of a stranger: what it must be for a comparison to mean anything, and one sentence where it is not."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from command_line import orchard, rlparity
from faulty_orchard import WORLD, CountingEngine, changed, playing
from numpy.typing import NDArray
from orchard.plain import Game, PlainEngine
from orchard.planes import PlanesEngine

from rlparity import BatchStep, EngineError, State
from rlparity.core.checks import run_seeds
from rlparity.core.guard import GuardedEngine
from rlparity.core.lockstep import Settings, run

Slots = NDArray[np.intp]


class _Duck:
    """Has all the methods and is no BatchEngine."""

    def __init__(self, games: int, *_: object) -> None:
        self.games = games


def hurt(engine: PlanesEngine, seen: NDArray[Any]) -> NDArray[Any]:
    """What is shown once every game was put back one hp short."""
    engine.hp = np.maximum(engine.hp - 1, 0)
    return engine.observe()[: len(seen)]


def drift(engine: CountingEngine, step: BatchStep) -> BatchStep:
    """A step that draws from a counter, which no state holds and ``set_state`` does not put back."""
    engine.walker = (engine.walker + engine.taken) % 16
    return replace(step, observation=engine.observe())


def deaf(heard: Callable[[int], int]) -> type[PlainEngine]:
    """An engine that draws from another seed than the one that it is given, and says it was that."""

    class Deaf(Game):
        def start(self, seed: int) -> None:
            super().start(heard(seed))
            self.seed = seed

        def fly(self) -> int:
            given, self.seed = self.seed, heard(self.seed)
            sting = super().fly()
            self.seed = given
            return sting

    return playing(Deaf)


DEAF, SHORT = deaf(lambda seed: 5), deaf(lambda seed: seed % 2**32)


def state_with(change: Callable[[PlanesEngine, State], State]) -> type[PlanesEngine]:
    """An engine whose states as dicts are changed."""
    return changed(state=lambda engine, state: {**state, **change(engine, state)})


def tried(engine: Any) -> str:  # noqa: ANN401 - whatever a stranger calls an engine
    return orchard(engines={"plain": PlainEngine, "tried": engine})


@pytest.mark.parametrize(
    ("engine", "sentence"),
    [
        (_Duck, "engine 'tried' is a _Duck and no rlparity.BatchEngine: derive its class from that one."),
        (
            state_with(lambda engine, state: {"hp": engine.hp[0]}),
            "engine 'tried' gives state.hp as numpy.int64, where states are JSON values only",
        ),
        (state_with(lambda engine, state: {"apples": tuple(state["apples"])}), "gives state.apples as tuple"),
        (state_with(lambda engine, state: {"seen": [math.nan]}), "seen[0] as nan, which JSON has no number for"),
        (state_with(lambda engine, state: {"seen": {3: True}}), "gives a key of type int in state.seen"),
        (changed(state=lambda engine, state: {"seed": state["seed"]}), "gives states without 'walker'"),
        (changed(get_state=lambda engine, states: iter(states)), "gives no list of 1 states"),
        (
            changed(mask=lambda engine, mask: mask[:, :5]),
            "gives masks as bool (64, 5): world 'orchard' wants a numpy array, bool (64, 6)",
        ),
        (changed(mask=lambda engine, mask: mask.astype(np.int8)), "gives masks as int8 (64, 6)"),
        (changed(mask=lambda engine, mask: None), "gives masks as NoneType"),
        (changed(seeds=lambda engine, seeds: seeds ^ np.uint64(1)), "says that a game reset from seed 0 has 1"),
        (
            changed(get_state=lambda engine, states: [state | {"turn": 0} for state in states]),
            "after set_state(get_state())",
        ),
        (
            changed(set_state=hurt),
            "engine 'tried' does not round-trip its state: after set_state(get_state()) state.hp is ",
        ),
        (
            changed(CountingEngine, step=drift),
            "engine 'tried' does not round-trip its state: after set_state(get_state()) and a step ",
        ),
        (DEAF, "engine 'tried' plays the same game from the seeds 0 and 64: its reset must start from the seed"),
        (SHORT, "its draws must depend on all 64 bits of a seed"),
    ],
)
def test_an_engine_that_breaks_the_contract_is_one_sentence_and_3(
    engine: Any,  # noqa: ANN401 - whatever a stranger calls an engine
    sentence: str,
) -> None:
    # Held to itself an engine agrees about everything, whatever it does.
    words = "--engines", "tried,tried", "--steps", "20", "--no-report"
    assert sentence in rlparity("run", *words, world=tried(engine)).refusal(3)


def test_a_port_that_reads_32_bits_of_its_seeds_differs_from_its_original() -> None:
    words = "--engines", "plain,tried", "--steps", "1", "--games", "2", "--no-report"
    assert rlparity("run", *words, world=tried(SHORT)).code == 1


@pytest.mark.parametrize("bits", [31, 32])
def test_engines_get_no_seed_that_is_wider_than_their_world_says(bits: int) -> None:
    class Narrow(PlanesEngine):
        def reset(self, seeds: NDArray[np.uint64], slots: Slots) -> NDArray[Any]:
            assert seeds.max() < 2**bits
            return super().reset(seeds, slots)

        def restart(self, slots: Slots) -> NDArray[Any]:
            return self.reset((self.seed[slots] * np.uint64(3) + np.uint64(1)) & np.uint64(2**bits - 1), slots)

    seeds = run_seeds(2**bits - 1, 3, bits).tolist()
    assert seeds[0] == 2**bits - 1
    assert max(seeds) < 2**bits
    assert seeds[1] % 2 ** (bits // 2) == 0
    words = "--engines", "narrow,narrow", "--steps", "20", "--seed", str(2**bits - 3)
    assert rlparity("run", *words, world=orchard(engines={"narrow": Narrow}, seed_bits=bits)).code == 0


def test_the_contract_is_checked_with_valid_actions_alone() -> None:
    class Strict(PlanesEngine):
        def step(self, actions: NDArray[np.int32]) -> BatchStep:
            assert (self.mask()[np.arange(self.games), actions] | self.over()).all()
            return super().step(actions)

    words = "--engines", "tried,tried", "--games", "32", "--invalid", "0", "--source", "directed"
    assert rlparity("run", *words, "--steps", "40", world=tried(Strict)).code == 0


def test_an_engine_may_change_the_states_that_it_is_given() -> None:
    class Changing(PlanesEngine):
        def set_state(self, states: Sequence[State], slots: Slots) -> NDArray[Any]:
            assert len({id(state["apples"]) for state in states}) == len(states)
            observation = super().set_state(states, slots)
            for state in states:
                state["apples"].clear()
            return observation

    engine, slots = GuardedEngine(replace(WORLD, engines={"tried": Changing}), "tried", 2), np.arange(2)
    engine.reset(np.array([7, 8], np.uint64), slots)
    state, _ = engine.get_state(slots)
    assert state["apples"]
    engine.set_state([state, state], slots)
    assert engine.get_state(slots) == [state, state]


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("golden", "golden", "World.golden is of type str, not Path"),
        ("marks", ("rest",), "World.marks is of type tuple, not Mapping"),
        ("actions", "up", "World.actions is of type str, not tuple"),
    ],
)
def test_a_field_of_a_world_of_another_type_is_named(name: str, value: Any, sentence: str) -> None:  # noqa: ANN401 - of any type
    with pytest.raises(TypeError, match=sentence):
        replace(WORLD, **{name: value})


def test_a_world_without_chance_says_so() -> None:
    fixed = replace(WORLD, engines={"plain": PlainEngine, "tried": DEAF})
    settings = Settings(steps=20, games=8)
    with pytest.raises(EngineError, match="plays the same game"):
        run(fixed, ("tried", "tried"), settings)
    assert run(replace(fixed, draws=False), ("tried", "tried"), settings).divergences == []


@pytest.mark.parametrize(
    ("change", "sentence"),
    [({"hp": np.int64(2)}, "it holds state.hp as numpy.int64"), ({"walker": 99}, "a cell lies outside 0 … 15.")],
)
def test_a_directed_start_that_is_no_state_is_one_sentence(change: dict[str, Any], sentence: str) -> None:
    world = orchard(starts={"wrong": lambda rng: {**WORLD.starts["end game"](rng), **change}})
    said = rlparity("run", "--source", "directed", world=world).refusal(3)
    assert f"a directed start of world 'orchard' is refused: {sentence}" in said
