"""Engines made of single games that know no more than ``begin`` and ``act``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from command_line import orchard, rlparity
from faulty_orchard import WORLD
from orchard.plain import Game, mix, refuse_bad

from rlparity import Board, State
from rlparity.adapters.single import REPLAYED_STATE, Outcome, SingleGame, SingleGames
from rlparity.core.lockstep import Settings, run
from rlparity.core.trace import read_trace


class Blind(SingleGame):
    """Orchard without its states."""

    game = Game

    def begin(self, seed: int) -> Any:  # noqa: ANN401 - an array
        self._game = self.game()
        self._game.start(seed)
        return self._game.observation()

    def act(self, action: int) -> Outcome:
        components, over = self._game.step(action)
        reward = np.float32(sum(components)) / np.float32(1000)
        return Outcome(self._game.observation(), reward, over, components=components)

    def mask(self) -> list[bool]:
        return self._game.mask()


class Open(Blind):
    """Orchard with its states."""

    has_states = True

    def pull(self) -> State:
        return self._game.state()

    def push(self, state: State) -> Any:  # noqa: ANN401 - an array
        refuse_bad(state)
        self._game.take(state)
        return self._game.observation()


class Lame(Blind):
    """Rests without healing in its fifth turn and later."""

    class game(Game):
        def rest(self) -> None:
            self.hp = self.hp if self.turn >= 4 else min(3, self.hp + 1)


def factory(game: type[SingleGame]) -> Any:  # noqa: ANN401 - of engines
    return lambda games, _: SingleGames(games, game, len(WORLD.actions), mix)


@pytest.mark.parametrize("auto_reset", [False, True])
def test_single_games_are_an_engine_like_any_other(auto_reset: bool) -> None:
    world = replace(WORLD, engines={"planes": WORLD.engines["planes"], "open": factory(Open)})
    settings = Settings(source="directed", steps=40, games=8, auto_reset=auto_reset)
    assert run(world, ("planes", "open"), settings).divergences == []


def test_games_without_states_are_compared_and_shrunk_by_their_actions(tmp_path: Any) -> None:  # noqa: ANN401
    engines = {"blind": factory(Blind), "again": factory(Blind), "lame": factory(Lame)}
    parts = {"state_fields": REPLAYED_STATE, "states_replay": True, "draw": lambda state: Board((), state)}
    world = orchard(engines=engines, starts={}, policies={}, shrinkers=(), **parts)
    words = "--steps", "40", "--games", "16", "--out", tmp_path
    assert rlparity("run", "--engines", "blind,again", *words, world=world).code == 0
    assert rlparity("run", "--engines", "blind,lame", *words, world=world).code == 1
    case = read_trace(tmp_path / "trace.json").case
    assert (case.state, len(case.actions), case.actions[-1]) == (None, 5, 5)
