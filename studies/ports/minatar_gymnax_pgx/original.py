"""MinAtar with the draws of the study, and without sticky actions."""

import importlib
from typing import Any

import numpy as np
from chance import NumpyDraws, numbers_of, rotated_choice
from minatar_games import MOVES, TAKEN, TERMINAL, Game, lists, texts, whole
from numpy.typing import ArrayLike

from rlparity import State
from rlparity.adapters.single import Outcome, SingleGame


class Original(SingleGame):
    """A game of MinAtar itself. Its state has the actions taken, which say what is drawn next."""

    has_states = True

    def __init__(self, game: Game) -> None:
        module = importlib.import_module(f"minatar.environments.{game.name}")
        self._game, self._draws = game, NumpyDraws()
        self._env = module.Env(ramping=True)
        self._env.random = self._draws
        self._actions = [MOVES.index(move) for move in game.moves]
        if game.name == "asterix":
            # where it may choose among free places only, ports choose in another order: here all choose the same
            self._draws.randint = self._free_place
        if game.name == "seaquest":
            spawn_diver = self._env._spawn_diver

            def spawn() -> None:
                self._draws.next = 3  # whether or not an enemy was drawn before
                spawn_diver()

            self._env._spawn_diver = spawn

    def _free_place(self, number_of_places: int) -> int:
        free = [place for place in range(8) if self._env.entities[place] is None]
        chosen = rotated_choice(self._draws.take(), free.__contains__, 8)
        assert chosen is not None
        return free.index(chosen)

    def begin(self, seed: int) -> ArrayLike:
        self._seed, self._taken = seed, 0
        self._draws.begin(numbers_of(seed, 0))
        self._env.reset()
        return np.asarray(self._env.state())

    def act(self, action: int) -> Outcome:
        self._taken += 1
        self._draws.begin(numbers_of(self._seed, self._taken))
        reward, terminal = self._env.act(self._actions[action])
        return Outcome(np.asarray(self._env.state()), float(reward), bool(terminal), False)

    def pull(self) -> State:
        state = {name: self._value(name) for name in (*self._game.fields, TERMINAL)}
        return texts(state) | {TAKEN: self._taken}

    def _value(self, name: str) -> Any:
        value = getattr(self._env, name)
        if name == "entities":
            return [None if entity is None else whole(entity) for entity in value]
        return sorted(map(whole, value)) if name in self._game.lists else whole(value)

    def push(self, state: State) -> ArrayLike:
        self.begin(state["seed"])
        self._taken, state = state[TAKEN], lists(state)
        for name in (*self._game.fields, TERMINAL):
            value = state[name]
            old = getattr(self._env, name)
            setattr(self._env, name, np.array(value, old.dtype) if isinstance(old, np.ndarray) else type(old)(value))
        return np.asarray(self._env.state())
