"""Looking ahead: what a search finds, what it must not see, and what it plays, in Orchard."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array
from toy_world.adapter import GAME, WORLD, OrchardJaxEnv
from toy_world.in_jax import CELLS, PICK, REST, Orchard

from parity import EngineError, ParityError
from worldkit.cli.app import main
from worldkit.evaluation.play import play_episodes
from worldkit.evaluation.players import player_of
from worldkit.evaluation.searcher import discount_of, searcher_of
from worldkit.evaluation.spec import LOOKAHEAD, Lookahead
from worldkit.jax.env import JaxEnv
from worldkit.ppo.networks import ActorCritic
from worldkit.ppo.params import save_params
from worldkit.ppo.search import LANES, Search, best_actions, returns_of, surely_best

ORCHARD = OrchardJaxEnv()
LEFT = 2
SEARCH = Search(rollouts=8, steps=3, discount=0.9)
NETWORK = ActorCritic(ORCHARD.num_actions, hidden_dim=16, num_layers=1)
SPEC = GAME.evaluation()  # type: ignore[misc]
GAMES = 8


class UnchangedFuture(OrchardJaxEnv):
    """Orchard with a future that a search can see."""

    def reseed(self, state: Orchard, seed: Array) -> Orchard:
        return state


class Unsearchable(OrchardJaxEnv):
    """Orchard that has not said how its chance is drawn anew."""

    reseed = JaxEnv.reseed


UNCHANGED = UnchangedFuture()


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


class Policy(NamedTuple):
    """The same everywhere: ``favourite``, else ``second``, or any action, and what every game is worth."""

    favourite: int | None = None
    value: float = 0.0
    second: int | None = None


ANYTHING = Policy()


def constant(logits: Array, value: Array | float) -> Callable[[Array], tuple[Array, Array]]:
    """A judge that says the same of every game."""
    return lambda compact: (jnp.broadcast_to(logits, (len(compact), len(logits))), jnp.full(len(compact), value))


@cache
def constant_program(env: JaxEnv) -> Callable[..., Array]:
    def values(orchards: Orchard, keys: Array, logits: Array, value: Array) -> Array:
        masks = jax.vmap(env.mask)(orchards)
        return returns_of(env, constant(logits, value), SEARCH, orchards, masks, keys).mean(axis=-1)

    return jax.jit(values)


def searched(orchards: list[Orchard], policy: Policy = ANYTHING, *, seed: int = 0, env: JaxEnv = ORCHARD) -> Any:  # noqa: ANN401 - a numpy array
    """The values of the actions in each of at most ``CELLS`` games, (n, actions), all with one key."""
    filled = stacked(orchards + orchards[-1:] * (CELLS - len(orchards)))
    actions = range(env.num_actions)
    logits = jnp.array([100.0 * (each == policy.favourite) + 50.0 * (each == policy.second) for each in actions])
    keys = jnp.broadcast_to(jax.random.key(seed), CELLS)
    return np.asarray(constant_program(env)(filled, keys, logits, policy.value))[: len(orchards)]


@pytest.fixture(scope="module")
def firm() -> Any:  # noqa: ANN401 - parameters
    """The parameters of a new network with firm opinions."""
    made: Any = NETWORK.init(jax.random.key(1), jnp.zeros((1, *ORCHARD.observation_shape)))
    made["params"]["policy"]["kernel"] *= 100
    return made


@pytest.fixture(scope="module")
def params(tmp_path_factory: pytest.TempPathFactory, firm: Any) -> Path:  # noqa: ANN401 - parameters
    path = tmp_path_factory.mktemp("params") / "params_1.npz"
    save_params(path, firm)
    return path


def decided(orchard: Orchard, logits: dict[int, float]) -> int:
    """The action that a search takes with a policy of these logits, 0 where none is given."""
    policy = jnp.array([logits.get(action, 0.0) for action in range(ORCHARD.num_actions)])
    (taken,) = decision_program()(stacked([orchard]), policy).tolist()
    return int(taken)


@cache
def decision_program() -> Callable[[Orchard, Array], Array]:
    def decisions(orchards: Orchard, logits: Array) -> Array:
        masks = jax.vmap(ORCHARD.mask)(orchards)
        keys = jnp.broadcast_to(jax.random.key(0), len(masks))
        return best_actions(ORCHARD, constant(logits, 0.0), SEARCH, orchards, masks, keys)

    return jax.jit(decisions)


# ------------------------------------------------------------------------------------------ what it finds


def test_the_action_that_earns_is_worth_what_it_earns_and_most() -> None:
    (values,) = searched([an_orchard(walker=0, wasp=15, apples={0: 3})])
    assert values.argmax() == PICK
    assert values[PICK] == pytest.approx(0.29)  # the last apple: the game is over, and nothing is added


def test_rewards_and_the_value_at_the_end_are_discounted() -> None:
    orchard = an_orchard(walker=0, wasp=15, apples={3: 1, 12: 1})  # the wasp is six steps away
    (values,) = searched([orchard], Policy(REST, value=10.0))
    assert values[REST] == pytest.approx(-0.01 * (1 + 0.9 + 0.81 + 0.729) + 0.9**4 * 10)


def test_what_the_policy_does_later_counts_for_the_action() -> None:
    """Beside the last apple, with a policy that picks: the step towards it is worth most."""
    (values,) = searched([an_orchard(walker=1, wasp=15, apples={0: 3})], Policy(PICK))
    assert values.argmax() == LEFT
    assert values[LEFT] == pytest.approx(-0.01 + 0.9 * 0.29)


def test_a_game_that_ends_with_the_last_step_of_a_rollout_is_worth_nothing_more() -> None:
    (values,) = searched([an_orchard(walker=3, wasp=15, apples={0: 3})], Policy(PICK, value=100.0, second=LEFT))
    assert values[LEFT] == pytest.approx(-0.01 * (1 + 0.9 + 0.81) + 0.9**3 * 0.29)


def test_an_invalid_action_is_never_worth_most() -> None:
    orchards = [an_orchard(walker=cell, wasp=15 - cell, apples={5: 1}) for cell in range(CELLS)]
    values = searched(orchards, Policy(value=-100.0))
    assert np.array_equal(values > -np.inf, jax.vmap(ORCHARD.mask)(stacked(orchards)))


class TestWhatIsTaken:
    """Of three actions, of which the last is not valid, the usual one is the first."""

    @pytest.mark.parametrize(
        ("usual", "other", "taken"),
        [
            ([5.0, -3.0, 9.0], [5.5, -2.5, 9.5], 1),  # better in every rollout
            ([5.0, -3.0, 9.0], [5.0, -3.0, 9.0], 0),
            ([5.0, -3.0, 9.0], [4.0, -4.0, 8.0], 0),
            ([0.0, 0.0, 0.0], [-1.0, 1.0, 3.0], 0),  # ahead by 1 in the mean, with a standard error of 1.15
            ([0.0, 0.0, 0.0], [0.0, 1.0, 2.0], 1),  # and with one of 0.58
            ([100.0, -100.0, 0.0], [100.1, -99.9, 0.1], 1),  # what rollouts of one chance have in common does not count
            ([100.0, -100.0, 0.0], [-99.9, 100.1, 0.1], 0),
        ],
    )
    def test_the_usual_one_but_for_what_is_surely_better(
        self, usual: list[float], other: list[float], taken: int
    ) -> None:
        rows = jnp.array([[usual, other, [-jnp.inf] * len(usual)]])
        assert surely_best(rows, jnp.array([0])).tolist() == [taken]

    def test_of_several_the_one_that_is_ahead_by_most_in_the_worst_case(self) -> None:
        rows = jnp.array([[[0.0, 0.0], [0.5, 3.0], [1.0, 1.0]]])
        assert surely_best(rows, jnp.array([0])).tolist() == [2]

    @pytest.mark.parametrize("favourite", [REST, LEFT])
    def test_where_nothing_is_at_stake_the_policys_likeliest(self, favourite: int) -> None:
        assert decided(an_orchard(walker=15, wasp=0, apples={0: 1}), {favourite: 1.0}) == favourite

    def test_a_likely_action_that_earns(self) -> None:
        assert decided(an_orchard(walker=0, wasp=15, apples={0: 3}), {REST: 1.0}) == PICK

    def test_nothing_that_the_policy_hardly_does(self) -> None:
        """PICK would earn as much as above, but the policy takes it once in 400 times."""
        assert decided(an_orchard(walker=0, wasp=15, apples={0: 3}), {REST: 6.0}) == REST

    def test_a_game_that_is_over_has_any_action(self) -> None:
        assert surely_best(jnp.full((1, 3, 2), -jnp.inf), jnp.array([0])).tolist() == [0]


# -------------------------------------------------------------------------------------- what it must not see


def wasps(orchard: Orchard) -> tuple[int, ...]:
    """Where the wasp of a game will be after each of five rests."""
    places = []
    for _ in range(5):
        orchard = ORCHARD.step(orchard, jnp.int32(REST)).final
        places.append(int(orchard.wasp))
    return tuple(places)


def test_a_search_cannot_peek() -> None:
    """Games that differ in what is to come alone: with one key, their actions are worth the same, bit for bit."""
    same_present = [an_orchard(walker=0, wasp=5, apples={3: 1, 0: 2}, seed=seed) for seed in range(6)]
    assert len(set(map(wasps, same_present))) > 3  # what is to come does differ
    values = searched(same_present)
    assert np.array_equal(values, np.broadcast_to(values[0], values.shape))
    # a search that plays on in the games themselves would have been found out
    peeked = searched(same_present, env=UNCHANGED)
    assert not np.array_equal(peeked, np.broadcast_to(peeked[0], peeked.shape))


def test_the_chance_of_the_tried_action_itself_is_drawn_anew_in_every_rollout() -> None:
    """The last apple is picked beside the wasp, which stings in a quarter of all futures: not in all, not in none."""
    (values,) = searched([an_orchard(walker=0, wasp=1, apples={0: 3})], seed=1)
    stung = (0.29 - values[PICK]) / 0.5 * SEARCH.rollouts
    assert stung == pytest.approx(round(float(stung)), abs=1e-4)
    assert 0 < round(float(stung)) < SEARCH.rollouts


# ------------------------------------------------------------------------------------------- reproducibility


def test_the_number_of_games_side_by_side_changes_no_bit(firm: Any) -> None:  # noqa: ANN401 - parameters
    def network(compact: Array) -> tuple[Array, Array]:
        judged: Any = NETWORK.apply(firm, compact)
        return judged

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


def test_another_key_gives_other_values_and_the_same_key_the_same() -> None:
    one, again, other = (searched([an_orchard(walker=5, wasp=6, apples={3: 1})], seed=seed) for seed in (0, 0, 1))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


# ------------------------------------------------------------------------------------------------ the player


def test_a_search_plays_the_same_on_every_engine_and_better_than_its_agent(params: Path) -> None:
    searching = searcher_of(WORLD, ORCHARD, params, Lookahead(4, 8), seed=0)
    plain, jax_played = (
        play_episodes(SPEC, searching, 0, 12, engine=engine, num_envs=GAMES, max_steps=60)
        for engine in ("plain", "jax")
    )
    assert plain == jax_played
    alone = player_of(SPEC, str(params), deterministic=False, seed=0)
    without = play_episodes(SPEC, alone, 0, 12, engine="plain", num_envs=GAMES, max_steps=60)
    returns = [np.mean([episode.stats["return"] for episode in played]) for played in (plain, without)]
    assert returns[0] > returns[1] + 0.3


def test_any_number_of_games_is_searched(params: Path) -> None:
    """Also one that the engine rounds up."""
    three, eight = (
        play_episodes(
            SPEC,
            searcher_of(WORLD, ORCHARD, params, Lookahead(2, 1), seed=0),
            0,
            3,
            engine="plain",
            num_envs=games,
            max_steps=5,
        )
        for games in (3, GAMES)
    )
    assert three == eight


def test_every_step_of_every_game_is_searched_under_a_chance_of_its_own(
    params: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys: list[Any] = []

    def rest(env: object, judge: object, search: object, states: object, masks: Array, drawn: Array) -> Array:
        jax.debug.callback(keys.append, jax.random.key_data(drawn))
        return jnp.full(len(masks), REST)

    monkeypatch.setattr("worldkit.evaluation.searcher.best_actions", rest)
    searching = searcher_of(WORLD, ORCHARD, params, Lookahead(2, 1), seed=0)
    play_episodes(SPEC, searching, 0, GAMES, engine="plain", num_envs=GAMES, max_steps=3)
    assert np.unique(np.concatenate(keys), axis=0).shape == (3 * GAMES, 2)


def test_games_that_the_player_has_not_followed_are_an_error(params: Path) -> None:
    searching = searcher_of(WORLD, ORCHARD, params, Lookahead(4, 8), seed=0)
    masks = np.zeros((GAMES, ORCHARD.num_actions), np.bool_)
    with pytest.raises(EngineError, match="not the games that the search follows"):
        searching(np.zeros(0), masks, np.arange(GAMES, dtype=np.uint64), np.zeros(GAMES, np.int64))


def test_the_discount_is_that_of_the_run(params: Path, tmp_path: Path) -> None:
    assert discount_of(params) == 0.99  # no settings lie beside it: the trainer's default
    (tmp_path / "config.json").write_text(json.dumps({"gamma": 0.9}))
    assert discount_of(tmp_path / "params_1.npz") == 0.9
    (tmp_path / "config.json").write_text(json.dumps({"gamma": "much"}))
    with pytest.raises(ParityError, match="gamma must be a number from 0 to 1, got 'much'"):
        discount_of(tmp_path / "params_1.npz")


def test_a_world_that_cannot_be_searched_says_so(params: Path) -> None:
    searching = searcher_of(WORLD, Unsearchable(), params, Lookahead(2, 1), seed=0)
    with pytest.raises(ParityError, match="orchard cannot be reseed"):
        play_episodes(SPEC, searching, 0, 1, engine="plain", num_envs=1)


@pytest.mark.parametrize("engines", [{}, {"jax": WORLD.engines["plain"]}])
def test_a_world_without_an_engine_to_follow_games_on_says_so(params: Path, engines: dict[str, Any]) -> None:
    world = replace(WORLD, engines={"plain": WORLD.engines["plain"], **engines})

    def search() -> None:
        searching = searcher_of(world, ORCHARD, params, Lookahead(2, 1), seed=0)
        play_episodes(SPEC, searching, 0, 1, engine="plain", num_envs=1)

    with pytest.raises(ParityError, match=r"engine jax.*: leave --search out"):
        search()


# ------------------------------------------------------------------------------------------ the command line


@pytest.mark.parametrize("word", ["8x16", "8×16"])
def test_a_lookahead_is_two_numbers_and_a_cross(word: str) -> None:
    assert LOOKAHEAD(word) == Lookahead(rollouts=8, steps=16)


WRONG_LOOKAHEADS = ["1x4", "4x0", "8", "axb", "8x", "8x16x2", "-8x16", "8x1001", "8x99999999999999", ""]


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        *(
            (
                ["params_1.npz", f"--search={word}"],
                f"must be ROLLOUTSxSTEPS, such as 8x16, 2 to 1,000 rollouts of 1 to 1,000 steps, got {word!r}",
            )
            for word in WRONG_LOOKAHEADS
        ),
        (["random", "--search", "8x16"], "a search needs an agent's policy and value: give a params_*.npz file"),
        (["model.zip", "--search", "8x16"], "model.zip does not exist; give the path of a params_*.npz file"),
        (["params_1.npz", "--search", "8x16", "--deterministic"], "not allowed with argument"),
        (["random", "--engine", "both"], "there is only the engine plain: `both` needs two"),
    ],
)
def test_what_cannot_be_searched_is_one_sentence(
    words: list[str], fault: str, capsys: pytest.CaptureFixture[str]
) -> None:
    world = WORLD if "both" not in words else replace(WORLD, engines={"plain": WORLD.engines["plain"]})
    game = replace(GAME, evaluation=lambda: replace(SPEC, env=replace(SPEC.env, world=world)))
    with pytest.raises(SystemExit) as stop:
        main(game, ["evaluate", *words])
    assert stop.value.code == 2
    said = capsys.readouterr().err
    assert fault in said
    assert said.count("\n") == 1


def test_the_command_says_what_was_searched(
    params: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(params.parent)
    flags = ["--search", "4x8", "--episodes", "8", "--num-envs", str(GAMES), "--engine", "both", "--max-steps", "60"]
    assert main(GAME, ["evaluate", params.name, *flags]) == 0
    said = capsys.readouterr().out
    assert "a search of 4×8 steps" in said
    assert "Both engines gave the same episodes." in said
