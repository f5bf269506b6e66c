"""Looking ahead: what a search finds, what it must not see, and what it plays, in Orchard."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array
from orchard import WORLD
from orchard.env import OrchardJaxEnv
from orchard.in_jax import CELLS, PICK, REST, Orchard

from rlparity import EngineError, ParityError, World
from rlworldkit.agents.agent import Choice, Lookahead, Player
from rlworldkit.agents.reader import read_agent
from rlworldkit.agents.search import (
    LANES,
    Search,
    best_actions,
    discount_of,
    judge_of,
    returns_of,
    searcher_of,
    surely_best,
)
from rlworldkit.cli.app import main
from rlworldkit.evaluation.play import play_episodes
from rlworldkit.jax.env import JaxEnv

ORCHARD = OrchardJaxEnv()
LEFT = 2
SEARCH = Search(rollouts=8, steps=3, discount=0.9)
GAMES = 8


class Unsearchable(OrchardJaxEnv):
    """Orchard that has not said how its chance is drawn anew."""

    reseed = JaxEnv.reseed


def an_orchard(*, walker: int, wasp: int, apples: dict[int, int], seed: int = 0) -> Orchard:
    """An orchard of which all is given but what is to come, which ``seed`` says."""
    fruit = np.zeros(CELLS, np.int32)
    fruit[list(apples)] = list(apples.values())
    return Orchard(
        seed=(jnp.uint32(seed), jnp.uint32(0)),
        walker=jnp.int32(walker),
        wasp=jnp.int32(wasp),
        hp=jnp.int32(2),
        score=jnp.int32(0),
        turn=jnp.int32(0),
        fruit=jnp.asarray(fruit),
    )


def stacked(orchards: list[Orchard]) -> Orchard:
    together: Orchard = jax.tree.map(lambda *leaves: jnp.stack(leaves), *orchards)
    return together


def policy(logits: dict[int, float]) -> Array:
    """Logits of all actions, 0 where none is given."""
    return jnp.array([logits.get(action, 0.0) for action in range(ORCHARD.num_actions)])


def constant(logits: Array, value: Array | float) -> Callable[[Array], tuple[Array, Array]]:
    """A judge that says the same of every game."""
    return lambda compact: (jnp.broadcast_to(logits, (len(compact), len(logits))), jnp.full(len(compact), value))


@jax.jit
def mean_returns(orchards: Orchard, keys: Array, logits: Array, value: Array) -> Array:
    masks = jax.vmap(ORCHARD.mask)(orchards)
    return returns_of(ORCHARD, constant(logits, value), SEARCH, orchards, masks, keys).mean(axis=-1)


def searched(
    orchards: list[Orchard], logits: dict[int, float] | None = None, value: float = 0.0, *, seed: int = 0
) -> Any:  # noqa: ANN401 - a numpy array
    """The values of the actions in each of at most ``CELLS`` games, (n, actions), all with one key and one policy."""
    filled = stacked(orchards + orchards[-1:] * (CELLS - len(orchards)))
    keys = jnp.broadcast_to(jax.random.key(seed), CELLS)
    return np.asarray(mean_returns(filled, keys, policy(logits or {}), float(value)))[: len(orchards)]


@jax.jit
def decisions(orchards: Orchard, logits: Array) -> Array:
    masks = jax.vmap(ORCHARD.mask)(orchards)
    keys = jnp.broadcast_to(jax.random.key(0), len(masks))
    return best_actions(ORCHARD, constant(logits, 0.0), SEARCH, orchards, masks, keys)


@pytest.mark.parametrize(
    ("walker", "apples", "logits", "value", "action", "worth", "is_best"),
    [
        (0, {0: 3}, {}, 0, PICK, 0.29, True),  # the last apple: the game is over, and nothing is added
        (0, {3: 1, 12: 1}, {REST: 100}, 10, REST, -0.01 * (1 + 0.9 + 0.81 + 0.729) + 0.9**4 * 10, False),
        (1, {0: 3}, {PICK: 100}, 0, LEFT, -0.01 + 0.9 * 0.29, True),  # what the policy does later counts
        # ends with the last step of a rollout
        (3, {0: 3}, {PICK: 100, LEFT: 50}, 100, LEFT, -0.01 * (1 + 0.9 + 0.81) + 0.9**3 * 0.29, False),
    ],
)
def test_an_action_is_worth_what_it_and_the_policy_earn_and_the_value_at_the_end_discounted(
    walker: int,
    apples: dict[int, int],
    logits: dict[int, float],
    value: float,
    action: int,
    worth: float,
    is_best: bool,
) -> None:
    (values,) = searched([an_orchard(walker=walker, wasp=15, apples=apples)], logits, value)
    assert values[action] == pytest.approx(worth)
    assert not is_best or values.argmax() == action


def test_an_invalid_action_is_never_worth_most() -> None:
    orchards = [an_orchard(walker=cell, wasp=15 - cell, apples={5: 1}) for cell in range(CELLS)]
    values = searched(orchards, value=-100.0)
    assert np.array_equal(values > -np.inf, jax.jit(jax.vmap(ORCHARD.mask))(stacked(orchards)))


NEVER = [-np.inf, -np.inf, -np.inf]


@pytest.mark.parametrize(
    ("returns", "taken"),
    [
        ([[5.0, -3.0, 9.0], [5.5, -2.5, 9.5], NEVER], 1),  # better in every rollout
        ([[5.0, -3.0, 9.0], [5.0, -3.0, 9.0], NEVER], 0),
        ([[5.0, -3.0, 9.0], [4.0, -4.0, 8.0], NEVER], 0),
        ([[0.0, 0.0, 0.0], [-1.0, 1.0, 3.0], NEVER], 0),  # ahead by 1 in the mean, with a standard error of 1.15
        ([[0.0, 0.0, 0.0], [0.0, 1.0, 2.0], NEVER], 1),  # and with one of 0.58
        ([[100.0, -100.0, 0.0], [100.1, -99.9, 0.1], NEVER], 1),  # what rollouts have in common does not count
        ([[100.0, -100.0, 0.0], [-99.9, 100.1, 0.1], NEVER], 0),
        ([[0.0, 0.0], [0.5, 3.0], [1.0, 1.0]], 2),  # of several the one that is ahead by most in the worst case
        ([NEVER, NEVER, NEVER], 0),  # a game that is over
    ],
)
def test_the_usual_first_action_is_taken_but_for_what_is_surely_better(returns: list[list[float]], taken: int) -> None:
    assert surely_best(jnp.array([returns]), jnp.array([0])).tolist() == [taken]


@pytest.mark.parametrize(
    ("walker", "apples", "logits", "taken"),
    [
        (15, {0: 1}, {REST: 1.0}, REST),  # where nothing is at stake the policy's likeliest
        (15, {0: 1}, {LEFT: 1.0}, LEFT),
        (0, {0: 3}, {REST: 1.0}, PICK),  # a likely action that earns
        (0, {0: 3}, {REST: 6.0}, REST),  # nothing that the policy does once in 400 times
    ],
)
def test_of_what_the_policy_may_do_the_best_is_taken(
    walker: int, apples: dict[int, int], logits: dict[int, float], taken: int
) -> None:
    orchards = stacked([an_orchard(walker=walker, wasp=15 - walker, apples=apples)])
    assert decisions(orchards, policy(logits)).tolist() == [taken]


@jax.jit
def wasps(orchards: Orchard) -> Array:
    """The places of the wasp of each game after each of five rests, (5, n)."""

    def rest(orchards: Orchard, _: None) -> tuple[Orchard, Array]:
        rested = jax.vmap(ORCHARD.step, in_axes=(0, None))(orchards, jnp.int32(REST)).final
        return rested, rested.wasp

    return jax.lax.scan(rest, orchards, length=5)[1]


def test_a_search_cannot_peek() -> None:
    """Games that differ in what is to come alone: with one key, their actions are worth the same, bit for bit."""
    same_present = [an_orchard(walker=0, wasp=5, apples={3: 1, 0: 2}, seed=seed) for seed in range(6)]
    assert np.unique(wasps(stacked(same_present)), axis=1).shape[1] > 3  # what is to come does differ
    values = searched(same_present)
    assert np.array_equal(values, np.broadcast_to(values[0], values.shape))


def test_the_chance_of_the_tried_action_itself_is_drawn_anew_in_every_rollout() -> None:
    """The last apple is picked beside the wasp, which stings in a quarter of all futures: not in all, not in none."""
    (values,) = searched([an_orchard(walker=0, wasp=1, apples={0: 3})], seed=1)
    stung = (0.29 - values[PICK]) / 0.5 * SEARCH.rollouts
    assert stung == pytest.approx(round(float(stung)), abs=1e-4)
    assert 0 < round(float(stung)) < SEARCH.rollouts


def test_the_number_of_games_side_by_side_changes_no_bit(params: Path) -> None:
    firm, judge = judge_of(read_agent(WORLD, params), ORCHARD)
    network = partial(judge, firm)

    @jax.jit
    def returns(orchards: Orchard, keys: Array) -> Array:
        masks = jax.vmap(ORCHARD.mask)(orchards)
        return returns_of(ORCHARD, network, SEARCH, orchards, masks, keys)

    many = 3 * CELLS
    cells = [number % CELLS for number in range(many)]
    orchards = stacked([an_orchard(walker=cell, wasp=15 - cell, apples={cell: 1, 5: 2, 10: 3}) for cell in cells])
    keys = jax.random.split(jax.random.key(3), many)
    together = returns(orchards, keys)
    assert (together > -jnp.inf).sum() > 2 * LANES  # several rounds of lanes
    for number in (0, 7, many - 1):
        alone = returns(jax.tree.map(lambda leaf, at=number: leaf[at : at + 1], orchards), keys[number : number + 1])
        assert np.array_equal(alone[0], together[number])


def searcher(params: Path, world: World = WORLD, env: JaxEnv = ORCHARD) -> Player:
    return searcher_of(world, env, read_agent(world, params), Choice(search=Lookahead(4, 8)))


@pytest.fixture(scope="module")
def searching(params: Path) -> Player:
    return searcher(params)


def test_a_search_plays_the_same_on_every_engine_and_better_than_its_agent(
    params: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    games = ["--games", "12", "--num-envs", str(GAMES), "--max-steps", "60"]
    means = []
    for how in (["--search", "4x8", "--engine", "both"], ["--engine", "plain"]):
        assert main(WORLD, ["evaluate", str(params), *games, *how, "--json", "figures.json"]) == 0
        means.append(json.loads(Path("figures.json").read_text())["return"]["mean"])
    said = capsys.readouterr().out
    assert "a search of 4×8 steps" in said
    assert "Both engines gave the same episodes." in said
    assert means[0] > means[1] + 0.3


def test_any_number_of_games_is_searched(searching: Player) -> None:
    """Also one that the engine rounds up."""
    three, eight = (
        play_episodes(WORLD, searching, 0, 3, engine="plain", num_envs=games, max_steps=5) for games in (3, GAMES)
    )
    assert three == eight


def test_every_step_of_every_game_is_searched_under_a_chance_of_its_own(
    params: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys: list[Any] = []

    def rest(env: object, judge: object, search: object, states: object, masks: Array, drawn: Array) -> Array:
        jax.debug.callback(keys.append, jax.random.key_data(drawn))
        return jnp.full(len(masks), REST)

    monkeypatch.setattr("rlworldkit.agents.search.best_actions", rest)
    play_episodes(WORLD, searcher(params), 0, GAMES, engine="plain", num_envs=GAMES, max_steps=3)
    assert np.unique(np.concatenate(keys), axis=0).shape == (3 * GAMES, 2)


def test_games_that_the_player_has_not_followed_are_an_error(searching: Player) -> None:
    masks = np.zeros((GAMES, ORCHARD.num_actions), np.bool_)
    with pytest.raises(EngineError, match="not the games that the search follows"):
        searching(np.zeros(0), masks, np.arange(GAMES, dtype=np.uint64), np.zeros(GAMES, np.int64))


def test_the_discount_is_that_of_the_run(params: Path, tmp_path: Path) -> None:
    assert discount_of(read_agent(WORLD, params)) == 0.99  # no settings lie beside it: the trainer's default
    agent = read_agent(WORLD, shutil.copy(params, tmp_path))
    (tmp_path / "config.json").write_text(json.dumps({"gamma": 0.9}))
    assert discount_of(agent) == 0.9
    (tmp_path / "config.json").write_text(json.dumps({"gamma": "much"}))
    with pytest.raises(ParityError, match="gamma must be a number from 0 to 1, got 'much'"):
        discount_of(agent)


PLAIN = {"plain": WORLD.engines["plain"]}


@pytest.mark.parametrize(
    ("world", "env", "sentence"),
    [
        (WORLD, Unsearchable(), "orchard cannot be reseed"),
        (replace(WORLD, engines=PLAIN), ORCHARD, r"engine jax.*: leave --search out"),
        (replace(WORLD, engines={**PLAIN, "jax": PLAIN["plain"]}), ORCHARD, r"engine jax.*: leave --search out"),
    ],
    ids=["not reseeded", "no engine in JAX", "one that is not in JAX"],
)
def test_a_world_that_cannot_be_searched_says_so(world: World, env: JaxEnv, sentence: str, params: Path) -> None:
    with pytest.raises(ParityError, match=sentence):
        play_episodes(WORLD, searcher(params, world, env), 0, 1, engine="plain", num_envs=1)


WRONG_LOOKAHEADS = ["1x4", "4x0", "8", "axb", "8x16x2", "-8x16", "8x1001", ""]
FORM = "must be ROLLOUTSxSTEPS, such as 8x16, 2 to 1,000 rollouts of 1 to 1,000 steps, got"


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        *((["params_1.npz", f"--search={word}"], f"{FORM} {word!r}") for word in WRONG_LOOKAHEADS),
        (["random", "--search", "8x16"], "random estimates no values, which a search needs: leave --search out"),
        (["random", "--search", "8x16", "--deterministic"], "--choose is given as likeliest and by --search: give one"),
        (["random", "--engine", "both"], "argument --engine: invalid choice: 'both' (choose from"),
    ],
)
def test_what_cannot_be_searched_is_one_sentence(words: list[str], fault: str, refused: Callable[..., str]) -> None:
    world = WORLD if "both" not in words else replace(WORLD, engines=PLAIN)
    assert fault in refused("evaluate", *words, program=world)
