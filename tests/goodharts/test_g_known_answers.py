"""Whole published games, on both engines and on the reading, in training and in an evaluation (G1-G13)."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
import torch
from reading.engine import state_of
from reading.game import Game
from reading.observation import observe
from reading.randomness import key_of_game

import parity
from goodharts.jax_env import state_dict as jax_dicts
from goodharts.jax_env.env import Game as JaxGame
from goodharts.jax_env.tables import Variant
from goodharts.rules import MODES
from goodharts.torch_env import state_dict
from goodharts.torch_env.env import Games
from goodharts.torch_env.observation import shown
from goodharts.torch_env.random import game_keys
from goodharts.torch_env.tables import channels
from worldkit.jax.threefry import Seed

GAMES = json.loads((Path(__file__).parent / "known-answers-goodharts.json").read_text())["games"]
TRAINED = [game for game in GAMES if not game["evaluating"]]


def cases(games: list[dict[str, Any]], quick: tuple[str, ...] = ()) -> pytest.MarkDecorator:
    """All games, of which only some are played where minutes count; without ``quick``, all of them."""
    named = {f"{game['mode']}-{game['game']}": game for game in games}
    marks = {name: () if not quick or name in quick else pytest.mark.long for name in named}
    return pytest.mark.parametrize("game", [pytest.param(named[name], id=name, marks=marks[name]) for name in named])


@cases(GAMES)
def test_the_reading_plays_the_published_game(game: dict[str, Any]) -> None:
    played = Game(game["mode"], key_of_game(int(game["seed"]), game["game"]), evaluating=game["evaluating"])
    played.start()
    assert state_of(played) == game["first"]
    ends = []
    for step, (action, components) in enumerate(zip(game["actions"], game["components"], strict=True)):
        outcome = played.step(action)
        assert list(outcome.components) == components
        if outcome.terminated or outcome.truncated:
            ends.append([step, "terminated" if outcome.terminated else "truncated"])
            if game["evaluating"]:
                played.respawn()
            else:
                played.restart()
    assert ends == game["ends"]
    assert state_of(played) == game["last"]
    assert (2 * observe(played)).reshape(2, -1).tolist() == game["lastObservation"]


def play(game: dict[str, Any], keys: torch.Tensor, slot: int) -> None:
    """Holds the game in a slot of a batch, in which all take the same actions, to the published one."""
    mode = MODES[game["mode"]]
    games = Games(mode, len(keys), evaluating=game["evaluating"])
    codes = games.start(keys)
    row = torch.tensor([slot])
    assert state_dict.to_dicts(games.state.rows(row)) == [game["first"]]
    ends = []
    for step, (action, components) in enumerate(zip(game["actions"], game["components"], strict=True)):
        outcome = games.step(torch.full((len(keys),), action))
        assert outcome.components[slot].tolist() == components
        codes = outcome.codes
        ended = (outcome.terminated | outcome.truncated).nonzero()[:, 0]
        if outcome.terminated[slot] or outcome.truncated[slot]:
            ends.append([step, "terminated" if outcome.terminated[slot] else "truncated"])
        if len(ended):
            codes[ended] = games.respawn(ended) if game["evaluating"] else games.restart(ended)
    assert ends == game["ends"]
    assert state_dict.to_dicts(games.state.rows(row)) == [game["last"]]
    seen = shown(codes[row], torch.tensor(channels(mode, games.numbers)))
    assert (2 * seen).reshape(2, -1).tolist() == game["lastObservation"]


@cases(GAMES, quick=("ground_truth-5", "proxy-191", "ground_truth_handhold-0"))
def test_the_engine_plays_the_published_game_alone(game: dict[str, Any]) -> None:
    play(game, game_keys(int(game["seed"]), game["game"] + 1)[-1:], 0)


@cases(GAMES)
def test_the_engine_plays_the_published_game_in_a_batch_and_out_of_order(game: dict[str, Any]) -> None:
    keys = game_keys(int(game["seed"]), game["game"] + 3).flip(0)[:8]
    play(game, keys, 2)


@cache
def in_jax(variant: Variant) -> Any:  # noqa: ANN401 - a jitted function
    """A program that plays games (n,) through actions (steps,): the first and last states, and what each step gave."""
    game = JaxGame(variant)
    go_on = game.respawn if variant.evaluating else game.restart

    def step(state: Any, action: jax.Array) -> Any:  # noqa: ANN401 - as JAX's scan has them
        state, outcome = jax.vmap(game.step, in_axes=(0, None))(state, action)
        ends = outcome.terminated, outcome.truncated
        return jax.vmap(go_on)(state, ends[0] | ends[1]), (outcome.components, *ends)

    def play(keys: Seed, actions: jax.Array) -> Any:  # noqa: ANN401 - as above
        first = jax.vmap(game.reset)(keys)
        last, told = jax.lax.scan(step, first, actions)
        return first, last, told, jax.vmap(game.observe)(last)

    return jax.jit(play)


@cases(GAMES, quick=("ground_truth-191", "proxy-0", "ground_truth_handhold-0", "ground_truth_handhold-5"))
def test_the_engine_in_jax_plays_the_published_game(game: dict[str, Any]) -> None:
    keys = game_keys(int(game["seed"]), game["game"] + 2).numpy().view(np.uint32)[-2:]
    play = in_jax(Variant(MODES[game["mode"]], game["evaluating"]))
    actions = np.array(game["actions"], np.int32)
    first, last, (components, terminated, truncated), seen = jax.device_get(play(Seed(*keys.T), actions))
    states = (jax.tree.map(lambda leaf: leaf[0], state) for state in (first, last))
    assert [jax_dicts.to_dict(state) for state in states] == [game["first"], game["last"]]
    assert components[:, 0].tolist() == game["components"]
    ended = np.flatnonzero(terminated[:, 0] | truncated[:, 0]).tolist()
    assert [[step, "terminated" if terminated[step, 0] else "truncated"] for step in ended] == game["ends"]
    assert (2 * seen[0]).reshape(2, -1).tolist() == game["lastObservation"]


@cases(TRAINED, quick=("ground_truth_handhold-5",))
def test_slot_g_of_a_run_is_its_game_g(game: dict[str, Any]) -> None:
    games = parity.open_batch(f"goodharts-{game['mode']}", "torch", 192)
    slot = game["game"]
    games.reset(int(game["seed"]))
    assert games.get_state([slot]) == [game["first"]]
    ends = []
    for step, (action, components) in enumerate(zip(game["actions"], game["components"], strict=True)):
        result = games.step(np.full(192, action))
        assert result.components[slot].tolist() == components
        if result.ended[slot]:
            ends.append([step, "terminated" if result.terminated[slot] else "truncated"])
    assert ends == game["ends"]
    assert games.get_state([slot]) == [game["last"]]
    assert (2 * result.observation[slot]).reshape(2, -1).tolist() == game["lastObservation"]
