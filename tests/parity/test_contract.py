"""An engine of a stranger: what it must be for a comparison to mean anything, and one sentence where it is not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import toy_world
from numpy.typing import NDArray
from toy_world import WORLD
from toy_world.plain import PlainEngine
from toy_world.planes import PlanesEngine, mixed

from parity import EngineError, EngineOptions, State
from parity.cli import main
from parity.contract import HIGH_WORD, run_seeds
from parity.lockstep import Settings, run

Slots = NDArray[np.intp]
Seeds = NDArray[np.uint64]
LOW = np.uint64(0xFFFFFFFF)


class _Duck:
    """Has all the methods and is no BatchEngine."""

    def __init__(self, games: int, *_: object) -> None:
        self.games = games


class _NumpyNumbers(PlanesEngine):
    def state(self, slot: int) -> State:
        return {**super().state(slot), "hp": self.hp[slot]}


class _Tuples(PlanesEngine):
    def state(self, slot: int) -> State:
        state = super().state(slot)
        return {**state, "apples": tuple(state["apples"])}


class _Nan(PlanesEngine):
    def state(self, slot: int) -> State:
        state = super().state(slot)
        return {**state, "apples": [{**apple, "cell": float("nan")} for apple in state["apples"]]}


class _NumericKeys(PlanesEngine):
    def state(self, slot: int) -> State:
        return {**super().state(slot), "seen": {3: True}}


class _NoList(PlanesEngine):
    def get_state(self, slots: Slots) -> Any:  # noqa: ANN401 - no list of states
        return iter(super().get_state(slots))


class _Forgetful(PlainEngine):
    """Keeps out of its states how far the wasp has drawn."""

    def get_state(self, slots: Slots) -> list[State]:
        return [state | {"turn": 0} for state in super().get_state(slots)]


class _Restoring(PlanesEngine):
    """Puts every game back one hp short."""

    def set_state(self, states: Sequence[State], slots: Slots) -> NDArray[Any]:
        super().set_state(states, slots)
        self.hp[slots] = np.maximum(self.hp[slots] - 1, 0)
        return self.observe()[slots]


class _Hidden(PlanesEngine):
    """Draws from a second counter, which its states do not hold and ``set_state`` does not put back."""

    def step(self, actions: NDArray[np.int32]) -> Any:  # noqa: ANN401 - a BatchStep
        self.drawn = getattr(self, "drawn", 0) + 1
        step = super().step(actions)
        self.walker = (self.walker + self.drawn) % 16
        return replace(step, observation=self.observe())


class _Deaf(PlanesEngine):
    """Starts from one and the same seed, and says it was the given one."""

    heard: Callable[[Seeds], Seeds] = staticmethod(lambda seeds: seeds * np.uint64(0) + np.uint64(5))

    def __init__(self, games: int, options: EngineOptions = EngineOptions()) -> None:
        super().__init__(games, options)
        self.given = np.zeros(games, np.uint64)

    def reset(self, seeds: Seeds, slots: Slots) -> NDArray[Any]:
        self.given[slots] = seeds
        return super().reset(self.heard(seeds), slots)

    def restart(self, slots: Slots) -> NDArray[Any]:
        return self.reset(mixed(self.given[slots]), slots)

    def seeds(self) -> Seeds:
        return self.given.copy()

    def state(self, slot: int) -> State:
        return {**super().state(slot), "seed": int(self.given[slot])}

    def set_state(self, states: Sequence[State], slots: Slots) -> NDArray[Any]:
        observation = super().set_state(states, slots)
        self.given[slots] = self.seed[slots]
        self.seed[slots] = self.heard(self.given[slots])
        return observation

    def state_arrays(self) -> Mapping[str, NDArray[Any]]:
        return {**(super().state_arrays() or {}), "seed": self.given}


class _Short(_Deaf):
    """Cuts its seeds to 32 bits."""

    heard = staticmethod(lambda seeds: seeds & LOW)


class _Mumbling(PlanesEngine):
    """Plays from the right seed and names another."""

    def seeds(self) -> Seeds:
        return super().seeds() ^ np.uint64(1)


def tried(engine: Any) -> str:  # noqa: ANN401 - whatever a stranger calls an engine
    toy_world.STRANGE = replace(WORLD, engines={"plain": PlainEngine, "tried": engine})  # type: ignore[attr-defined]
    return "toy_world:STRANGE"


@pytest.mark.parametrize(
    ("engine", "sentence"),
    [
        (_Duck, "engine 'tried' is a _Duck and no parity.BatchEngine: derive its class from that one."),
        (_NumpyNumbers, "engine 'tried' gives state.hp as numpy.int64, where states are JSON values only"),
        (_Tuples, "engine 'tried' gives state.apples as tuple, where states are JSON values only"),
        (_Nan, "].cell as nan, which JSON has no number for"),
        (_NumericKeys, "engine 'tried' gives a key of type int in state.seen"),
        (_NoList, "engine 'tried' gives no list of 1 states"),
        (_Forgetful, "after set_state(get_state())"),
        (_Restoring, "engine 'tried' is another one after set_state(get_state()): state.hp is "),
        (_Hidden, "engine 'tried' is another one after set_state(get_state()) and a step: "),
        (_Deaf, "engine 'tried' plays the same game from the seeds 0 and 64: its reset must start from the seed"),
        (_Short, "its draws must depend on all 64 bits of a seed"),
        (_Mumbling, "says that a game reset from seed 0 has 1"),
    ],
)
def test_an_engine_that_breaks_the_contract_is_one_sentence_and_3(
    engine: Any,  # noqa: ANN401 - whatever a stranger calls an engine
    sentence: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    # Held to itself an engine agrees about everything, whatever it does.
    arguments = ["--engines", "tried,tried", "--steps", "20", "--no-report"]
    assert main(["run", "--world", tried(engine), *arguments]) == 3
    said = capsys.readouterr()
    assert said.out == ""
    assert sentence in said.err
    assert said.err.count("\n") == 1


def test_a_port_that_reads_32_bits_of_its_seeds_differs_from_its_original(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--engines", "plain,tried", "--steps", "1", "--games", "2", "--no-report"]
    assert main(["run", "--world", tried(_Short), *arguments]) == 1


def test_every_second_game_of_a_run_starts_from_a_seed_above_32_bits() -> None:
    high = int(HIGH_WORD)
    assert run_seeds(7, 4).tolist() == [7, 8 + high, 9, 10 + high]
    assert high % 2**32 == 0
    assert run_seeds(2**64 - 1, 3).tolist() == [2**64 - 1, high, 1]


def test_a_world_without_chance_says_so() -> None:
    fixed = replace(WORLD, engines={"plain": PlainEngine, "tried": _Deaf})
    settings = Settings(steps=20, games=8)
    with pytest.raises(EngineError, match="plays the same game"):
        run(fixed, ("tried", "tried"), settings)
    assert run(replace(fixed, draws=False), ("tried", "tried"), settings).divergences == []


def test_a_made_start_with_numbers_of_numpy_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    def start(rng: np.random.Generator) -> State:
        return {**WORLD.starts["end game"](rng), "hp": np.int64(2)}

    toy_world.NUMPY_START = replace(WORLD, starts={"numpy": start})  # type: ignore[attr-defined]
    assert main(["run", "--world", "toy_world:NUMPY_START", "--source", "directed"]) == 3
    said = capsys.readouterr().err
    assert "a directed start of world 'orchard' is refused: it holds state.hp as numpy.int64" in said
    assert said.count("\n") == 1
