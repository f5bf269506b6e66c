"""Environments of libraries, functions of JAX and single games as engines."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import gymnasium
import gymnax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from faulty_orchard import WORLD
from gymnasium.envs.phys2d.cartpole import CartPoleFunctional
from orchard.plain import Game, mix, refuse_bad

from rlparity import State, Tolerance, World
from rlparity.adapters.draws import key_of
from rlparity.adapters.gymnasium import GymGame
from rlparity.adapters.pairing import Pairing
from rlparity.adapters.pytree import PytreeGame, functional_game, gymnax_game
from rlparity.adapters.single import Outcome, SingleGame, SingleGames
from rlparity.adapters.starts import resets_world, starts_of
from rlparity.core.lockstep import Settings, run

FIELDS = ("x", "x_dot", "theta", "theta_dot")
ROUNDING = Tolerance(ulps=4, absolute=1e-6, reason="Gymnax computes in float32")


def make() -> Any:  # noqa: ANN401 - an environment
    return gymnasium.make("CartPole-v1").unwrapped


def place(state: State, env: Any) -> None:  # noqa: ANN401 - an environment
    env.state = tuple(state[name] for name in FIELDS)


def values_of(env: Any) -> State:  # noqa: ANN401 - an environment
    """The state as Gymnax has it, in float32."""
    return dict(zip(FIELDS, np.array(env.state, np.float32).tolist(), strict=True))


def original() -> GymGame:
    return GymGame(make, values_of, place, lambda env: np.float32(env.state))


def of_gymnax(**rules: float) -> Any:  # noqa: ANN401 - a maker of games
    env, params = gymnax.make("CartPole-v1")
    return gymnax_game(
        env,
        params.replace(**rules),
        to_dict=lambda state: {name: getattr(state, name).item() for name in FIELDS},
        from_dict=lambda values, state: state.replace(time=0, **{name: np.float32(values[name]) for name in FIELDS}),
    )


def functional(**rules: float) -> Any:  # noqa: ANN401 - a maker of games
    env: Any = CartPoleFunctional()
    return functional_game(
        env,
        env.get_default_params(polemass_length=0.05, **rules),  # as Gymnasium's CartPole has it
        to_dict=lambda state: dict(zip(FIELDS, state.tolist(), strict=True)),
        from_dict=lambda values, _: np.array([values[name] for name in FIELDS], np.float32),
    )


def cart_pole(
    gravity: float = 9.8,
    force_mag: float = 10.0,
    port: Any = of_gymnax,  # noqa: ANN401 - gives a maker of games
    **parts: Any,  # noqa: ANN401 - of a pairing
) -> World:
    return Pairing(
        name="cart-pole",
        games={"gym": original, "port": port(gravity=gravity, force_mag=force_mag)},
        actions=("left", "right"),
        observation_shape=(4,),
        state_fields=FIELDS,
        tolerances={"observation": ROUNDING, "state": ROUNDING},
        **parts,
    ).world()


@pytest.mark.parametrize(("port", "steps"), [(of_gymnax, 12), (functional, 6)])  # whose reward of a fall differs
def test_a_port_is_compared_from_injected_states(port: Any, steps: int) -> None:  # noqa: ANN401 - as cart_pole has it
    settings = Settings(games=4, steps=steps, mode="injected")
    assert run(cart_pole(port=port), ("gym", "port"), settings).divergences == []
    (found,) = run(cart_pole(gravity=9.81, port=port), ("gym", "port"), settings).divergences
    assert {"observation[3]"} <= {difference.field for difference in found.differences}


def test_a_mirrored_port_begins_where_the_original_does() -> None:
    settings = Settings(games=4, steps=40, source="policy:left")
    assert run(cart_pole(), ("gym", "port"), replace(settings, source="uniform")).divergences[0].step == 0
    policies = {"left": lambda view: np.tile([1, 0], (len(view.mask), 1))}
    world = cart_pole(mirrored=True, policies=policies)
    found = run(world, ("gym", "port"), settings)
    assert (found.divergences, found.measured["actions"]) == ([], {"left": 160, "right": 0})
    assert found.games_begun == 4 + found.episodes > 8
    assert run(cart_pole(mirrored=True, gravity=9.81), ("gym", "port"), Settings(games=1)).divergences[0].step > 0


def test_an_environment_written_for_an_older_gymnax_has_one_flag_for_both_ends() -> None:
    env, params = gymnax.make("CartPole-v1")
    names = "reset_env", "step_env", "get_obs", "observation_space", "action_space"
    game = gymnax_game(SimpleNamespace(**{name: getattr(env, name) for name in names}), params)()
    game.begin(0)
    assert (game.act(0).terminated, game.act(0).truncated) == (False, False)


def test_a_port_draws_from_what_it_is_given() -> None:
    game = PytreeGame(
        lambda row: (row, row),
        lambda row, state, action: (row, state + row * action, jnp.float32(1), False),
        observe=lambda state: state,
        draws=lambda seed, turn: np.int32(10 * seed + turn),
    )
    assert [int(game.begin(4)), *(int(game.act(1).observation) for _ in range(3))] == [40, 41, 42, 43]
    state = {"seed": 4, **game.pull()}
    assert (state["taken"], int(game.push(state)), int(game.act(1).observation)) == (3, 166, 44)


class Deck:
    """Deals the turn's number to everybody."""

    def begin(self, seed: int, turn: int) -> None:
        self.card = turn + 2

    def choice(self, _: Any) -> int:  # noqa: ANN401 - cards, or how they look
        return self.card


def test_an_environment_draws_from_the_generator_that_it_is_given() -> None:
    game = GymGame(lambda: gymnasium.make("Blackjack-v1"), generator=Deck(), show=np.array)
    assert [list(game.begin(0)), *(list(game.act(1).observation) for _ in range(3))] == [
        [total, 2, 0] for total in (4, 7, 11, 16)
    ]
    assert "observation_space" not in game.declarations()


class Sum:
    """A game of plain functions that adds actions up. ``traced``: how often Python carried out a step."""

    traced = 0

    def step(self, key: Any, state: Any, action: Any) -> Any:  # noqa: ANN401 - pytrees
        self.traced += 1
        return state + action, state + action, jnp.float32(0.5), state > 100

    def game(self) -> PytreeGame:
        return PytreeGame(
            lambda key: (jnp.int32(0), jnp.int32(0)), self.step, mask=lambda state: state + jnp.arange(3) < 9
        )


def test_plain_functions_are_compiled_once_for_all_games() -> None:
    environment = Sum()
    for game in (environment.game(), environment.game()):
        game.begin(0)
        seen = [game.act(action % 3) for action in range(30)]
        assert [int(each.observation) for each in seen] == np.cumsum(np.arange(30) % 3).tolist()
        assert {each.reward for each in seen} == {0.5}
        np.testing.assert_array_equal(game.mask(), [False] * 3)
    assert environment.traced == 1


class Open(SingleGame):
    """Orchard with its states."""

    has_states = True

    def begin(self, seed: int) -> Any:  # noqa: ANN401 - an array
        self._game = Game()
        self._game.start(seed)
        return self._game.observation()

    def act(self, action: int) -> Outcome:
        components, over = self._game.step(action)
        reward = np.float32(sum(components)) / np.float32(1000)
        return Outcome(self._game.observation(), reward, over, components=components)

    def mask(self) -> list[bool]:
        return self._game.mask()

    def pull(self) -> State:
        return self._game.state()

    def push(self, state: State) -> Any:  # noqa: ANN401 - an array
        refuse_bad(state)
        self._game.take(state)
        return self._game.observation()


@pytest.mark.parametrize("auto_reset", [False, True])
def test_single_games_are_an_engine_like_any_other(auto_reset: bool) -> None:
    engines: Any = {"planes": WORLD.engines["planes"], "open": lambda games, _: SingleGames(games, Open, 6, mix)}
    world = replace(WORLD, engines=engines)
    settings = Settings(source="directed", steps=40, games=8, auto_reset=auto_reset)
    assert run(world, ("planes", "open"), settings).divergences == []


def test_an_original_begins_where_its_port_does_and_draws_what_it_draws() -> None:
    def drawn(key: Any) -> Any:  # noqa: ANN401 - numbers
        return jax.random.randint(key, (2,), 0, 100)

    start = starts_of(drawn)

    class Original(SingleGame):
        def begin(self, seed: int) -> Any:  # noqa: ANN401 - an observation
            self.seed, self.turn, self.count = seed, 0, start(seed)
            return {"all": {"count": self.count}}

        def act(self, action: int) -> Outcome:
            self.turn += 1
            self.count = self.count + action * np.asarray(drawn(key_of(self.seed, self.turn)))
            return Outcome({"all": {"count": self.count}}, 1.0, False, False)

    def step(key: Any, state: Any, action: Any) -> Any:  # noqa: ANN401 - pytrees
        after = state + action * drawn(key)
        return {"all": {"count": jnp.where(after < 300, after, 300)}}, after, jnp.float32(1), False

    def reset(key: Any) -> Any:  # noqa: ANN401 - pytrees
        state = drawn(key)
        return {"all": {"count": state}}, state

    games = {"original": Original, "port": lambda: PytreeGame(reset, step)}
    world = Pairing("count", games, ("stay", "up"), draws=None).world()
    assert world.observation_fields == {"all.count": (2,)}
    assert run(world, ("original", "port"), Settings(games=4, steps=2)).divergences == []
    found = run(world, ("original", "port"), Settings(games=4, steps=12)).divergences
    assert {field.observed for each in found for field in each.differences} == {300}


def test_an_environment_of_gymnasium_begins_where_its_port_does() -> None:
    rules: Any = CartPoleFunctional()
    start = starts_of(rules.initial)
    game = GymGame(make, start=lambda seed: {"state": start(seed)}, observe=lambda env: env.state, float32=True)
    port = functional_game(rules, rules.get_default_params())()
    for seed in (3, 4, 3):
        np.testing.assert_array_equal(game.begin(seed), port.begin(seed))
        assert game.act(1).observation[0] == pytest.approx(port.act(1).observation[0])  # where the cart is


def test_what_resets_draw_is_compared_by_itself() -> None:
    def dice(sides: int) -> Any:  # noqa: ANN401 - a function
        return lambda seed: np.random.default_rng(seed % 1).integers(1, sides + 1, 600).max()

    same, other = (resets_world("dice", one=dice(6), two=dice(sides)) for sides in (6, 7))
    assert run(same, ("one", "two"), Settings(games=4, steps=2)).divergences == []
    (found, *_) = run(other, ("one", "two"), Settings(games=4, steps=2)).divergences
    assert [(each.field, each.expected, each.observed) for each in found.differences] == [("observation", 6, 7)]
