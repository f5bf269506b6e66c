"""One small interface to an engine, on state dicts, and the batched functions of the JAX engine."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import jax
import numpy as np
from numpy.typing import NDArray

from hackmatrix import jax_env
from hackmatrix.jax_env import State, StepResult
from hackmatrix.rules import COMPONENTS
from worldkit.threefry import seed_pair

from .reference import actions, board, game, observation, stage

StateDict = dict[str, Any]
Entry = dict[str, Any]
Place = tuple[int, int]
Json: TypeAlias = Any  # whatever a field may hold, mistakes included
Compiled = Callable[..., Any]
WIDTH = 64
FLAGS = ("terminated", "stage_complete", "death", "victory", "invalid_action")


def places(entries: list[Entry]) -> list[Place]:
    return [(entry["row"], entry["col"]) for entry in entries]


def only(entries: list[Entry]) -> Entry:
    (entry,) = entries
    return entry


def at(entries: list[Entry], row: int, col: int) -> Entry:
    return only([entry for entry in entries if places([entry]) == [(row, col)]])


@dataclass(frozen=True)
class Outcome:
    """The state (dict S) after the last of some actions, and the result of its step."""

    state: StateDict
    components: dict[str, int]
    terminated: bool
    stage_complete: bool
    death: bool
    victory: bool
    invalid_action: bool

    @property
    def rewards(self) -> dict[str, int]:
        """The components that are not 0, without the step penalty."""
        return {name: value for name, value in self.components.items() if value and name != "step_penalty"}

    def __getitem__(self, names: str | tuple[str, ...]) -> Any:  # noqa: ANN401 - facts of any type
        facts = self.facts
        return facts[names] if isinstance(names, str) else tuple(facts[name] for name in names)

    @cached_property
    def facts(self) -> dict[str, Any]:
        """All of it by name: numbers of S, places on the board, what stands in them, components and flags."""
        state, enemies = self.state, self.state["enemies"]
        lists = [name for name, value in state.items() if isinstance(value, list) and name != "ownedPrograms"]
        by_place = {
            "hps": ("enemies", "hp"),
            "kinds": ("enemies", "type"),
            "coming": ("transmissions", "turnsRemaining"),
            "spawns": ("blocks", "spawnCount"),
        }
        return {
            **state,
            **state["player"],
            **self.components,
            **{name: places(state[name]) for name in lists},
            **{
                name: {place: entry[field] for place, entry in zip(places(state[key]), state[key], strict=True)}
                for name, (key, field) in by_place.items()
            },
            "player": places([state["player"]])[0],
            "exit": places([state["exit"]])[0],
            "pickups": places([entry for entry in state["resources"] if entry["dataSiphon"]]),
            "amounts": {
                place: (entry["credits"], entry["energy"])
                for place, entry in zip(places(state["resources"]), state["resources"], strict=True)
                if entry["credits"] or entry["energy"]
            },
            "stunned": places([enemy for enemy in enemies if enemy["stunned"]]),
            "owned": " ".join(board.PROGRAM_TABLE[action - 5][0] for action in state["ownedPrograms"]),
            "rewards": self.rewards,
            "flags": " ".join(name for name in FLAGS if getattr(self, name)),
        }


class Reference:
    def reset(self, seed: int) -> StateDict:
        return board.dump_whole(stage.new_game(seed))

    def complete(self, state: StateDict) -> StateDict:
        """The full form of a state dict: setState, then getState."""
        return board.dump_whole(board.load(state))

    def play(self, state: StateDict, *actions: int) -> Outcome:
        now = board.load(state)
        for action in actions:
            result = game.step(now, action)
            now = result.game
        return Outcome(
            board.dump_whole(now),
            result.components,
            result.terminated,
            result.stage_complete,
            result.death,
            result.victory,
            result.invalid_action,
        )

    def mask(self, state: StateDict) -> list[bool]:
        return actions.mask(board.load(state))

    def observe(self, state: StateDict) -> NDArray[np.float32]:
        return observation.observe(board.load(state))


def outcome_of(state: State, result: StepResult) -> Outcome:
    components = [int(value) for value in np.asarray(result.components)]
    return Outcome(jax_env.get_state(state), dict(zip(COMPONENTS, components, strict=True)), *map(bool, result[1:]))


class Batch:
    """The JAX engine on ``WIDTH`` games at once; longer lists are played in pieces, the last one padded."""

    @cached_property
    def _reset(self) -> Compiled:
        return jax.jit(jax.vmap(jax_env.reset))

    @cached_property
    def _step_auto_reset(self) -> Compiled:
        return jax.jit(jax.vmap(jax_env.step_auto_reset))

    @cached_property
    def _look(self) -> Compiled:
        return jax.jit(jax.vmap(lambda state: (jax_env.mask(state), jax_env.observe(state))))

    def reset(self, seeds: Sequence[int]) -> list[State]:
        return self._pieces(self._reset, [(seed_pair(seed),) for seed in seeds])

    def step(self, states: Sequence[State], actions: Iterable[int]) -> list[tuple[State, StepResult]]:
        """(state, result) of every game; nothing is restarted."""
        played = self.step_auto_reset(states, actions, [False] * len(states))
        return [(final, result) for _, result, final in played]

    def step_auto_reset(
        self, states: Sequence[State], actions: Iterable[int], truncate: Sequence[bool]
    ) -> list[tuple[State, StepResult, State]]:
        """(next state, result, state that the step led to) of every game."""
        games = [
            (state, np.int32(action), np.bool_(cut))
            for state, action, cut in zip(states, actions, truncate, strict=True)
        ]
        return self._pieces(self._step_auto_reset, games)

    def look(self, states: Sequence[State]) -> list[tuple[Any, Any]]:
        return self._pieces(self._look, [(state,) for state in states])

    @staticmethod
    def _pieces(function: Compiled, games: Sequence[tuple[Any, ...]]) -> list[Any]:
        answers: list[Any] = []
        for start in range(0, len(games), WIDTH):
            piece = list(games[start : start + WIDTH])
            # the last one over and over, where they are fewer
            rows = np.minimum(np.arange(WIDTH), len(piece) - 1)
            stacked = jax.tree.map(lambda *leaves, rows=rows: np.stack(leaves)[rows], *piece)
            whole = jax.tree.map(np.asarray, function(*stacked))
            answers += [jax.tree.map(lambda leaf, game=game: leaf[game], whole) for game in range(len(piece))]
        return answers


BATCH = Batch()


class Jax:
    """The same of the JAX engine, by the programs of ``BATCH``: others would have to be compiled."""

    def reset(self, seed: int) -> StateDict:
        return jax_env.get_state(BATCH.reset([seed])[0])

    def complete(self, state: StateDict) -> StateDict:
        return jax_env.get_state(jax_env.set_state(state))

    def play(self, state: StateDict, *actions: int) -> Outcome:
        now = jax_env.set_state(state)
        for action in actions:
            ((now, result),) = BATCH.step([now], [action])
        return outcome_of(now, result)

    def mask(self, state: StateDict) -> list[bool]:
        ((mask, _),) = BATCH.look([jax_env.set_state(state)])
        return [bool(valid) for valid in mask]

    def observe(self, state: StateDict) -> NDArray[np.float32]:
        ((_, observation),) = BATCH.look([jax_env.set_state(state)])
        return np.asarray(observation)


Engine = Reference | Jax
ENGINES: dict[str, Engine] = {"jax": Jax(), "reference": Reference()}
