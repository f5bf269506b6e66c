"""Environments of several agents, with the interfaces of JaxMARL and of PettingZoo's parallel environments."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from command_line import run as run_command

from rlparity import Box
from rlparity.adapters.agents import ParallelGame, jaxmarl_game, joint_actions
from rlparity.adapters.pairing import Pairing
from rlparity.adapters.pytree import jumanji_game
from rlparity.adapters.single import Outcome
from rlparity.cli.main import main
from rlparity.core.lockstep import Settings, run

AGENTS = ["red", "blue"]


class Race:
    """Two runners to 9, of whom the first that is there leaves; ``fault`` is what blue runs too far."""

    possible_agents = AGENTS

    def __init__(self, fault: int = 0) -> None:
        self.fault = fault

    def action_space(self, agent: str) -> Any:  # noqa: ANN401 - a space
        return SimpleNamespace(n=3 if agent == "red" else 2)

    def reset(self, seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
        self.agents, self.place, self.steps = [*AGENTS], {"red": seed % 5, "blue": 0}, 0
        return self.seen(), {}

    def seen(self) -> dict[str, Any]:
        return {agent: np.array([self.place[agent]], np.int32) for agent in self.agents}

    def step(self, actions: dict[str, int]) -> tuple[dict[str, Any], ...]:
        self.steps += 1
        for agent, action in actions.items():
            self.place[agent] += int(action) + (self.fault if agent == "blue" and self.place["blue"] > 5 else 0)
        there = {agent: self.place[agent] >= 9 for agent in self.agents}
        late = dict.fromkeys(self.agents, self.steps == 12)
        rewards = {agent: float(ends) for agent, ends in there.items()}
        seen = self.seen()
        self.agents = [agent for agent in self.agents if not there[agent] and not late[agent]]
        return seen, rewards, there, late, {}

    def close(self) -> None:
        pass


class JaxRace:
    """The same in JAX, as JaxMARL has environments: one flag for all ends, and places that stay where they are."""

    agents = AGENTS

    def action_space(self, agent: str) -> Any:  # noqa: ANN401 - a space
        return Race().action_space(agent)

    def reset(self, key: Any) -> tuple[Any, Any]:  # noqa: ANN401 - pytrees
        state = jnp.array([(jax.random.key_data(key)[-1] % 5).astype(jnp.int32), 0, 0])
        return self.get_obs(state), state

    def get_obs(self, state: Any) -> Any:  # noqa: ANN401 - pytrees
        return {"red": state[:1], "blue": state[1:2]}

    def step_env(self, _: Any, state: Any, actions: Any) -> tuple[Any, ...]:  # noqa: ANN401 - pytrees
        runs = state[:2] < 9
        moved = state[:2] + jnp.stack([actions["red"], actions["blue"]]) * runs
        there, late, steps = moved >= 9, state[2] == 11, moved - state[:2]
        state = jnp.append(moved, state[2] + 1)
        ends = there | late
        return (
            self.get_obs(state),
            state,
            {"red": (there & runs)[0].astype(float), "blue": (there & runs)[1].astype(float)},
            {"red": ends[0], "blue": ends[1], "__all__": ends.all()},
            {"steps": {"red": steps[0], "blue": steps[1]}},
        )


class OneFlag(ParallelGame):
    """A race whose limit ends it as arriving does, with rewards in float32."""

    def act(self, action: Any) -> Outcome:  # noqa: ANN401 - an array
        outcome = super().act(action)
        ends = outcome.terminated | outcome.truncated
        return Outcome(outcome.observation, outcome.reward.astype(np.float32), ends, truncated=False)


def compared(fault: int) -> list[str]:
    world = Pairing(
        name="race",
        games={"pettingzoo": lambda: OneFlag(lambda: Race(fault)), "jaxmarl": jaxmarl_game(JaxRace())},
        actions=Box((0, 0), (2, 1), (2,), "int32"),
        observation_shape={"red": (1,), "blue": (1,)},
        players=2,
    ).world()
    outcome = run(world, ("pettingzoo", "jaxmarl"), Settings(games=4, steps=60))
    return [found.field for each in outcome.divergences for found in each.differences]


def test_agents_are_compared_each_by_its_own_observation_reward_and_end() -> None:
    assert compared(fault=0) == []
    assert compared(fault=1)[0].startswith("observation.blue")


def test_an_environment_shows_and_pays_what_is_asked_for() -> None:
    game = jaxmarl_game(JaxRace(), show=lambda seen: {"both": jnp.concatenate([*seen.values()])}, bonus="steps")()
    assert game.begin(0)["both"].shape == (2,)
    outcomes = [game.act(np.array([2, 1])) for _ in range(5)]
    assert [outcome.reward.tolist() for outcome in outcomes] == [[2, 1]] * 4 + [[3, 1]]
    assert [outcome.observation["both"].max() for outcome in outcomes] == [2, 4, 6, 8, 10]


def test_an_agent_that_has_left_shows_what_it_showed_last_and_earns_nothing() -> None:
    game = ParallelGame(Race)
    game.begin(4)
    outcomes = [game.act(np.array([2, 0])) for _ in range(5)]
    assert [outcome.reward.tolist() for outcome in outcomes] == [[0, 0], [0, 0], [1, 0], [0, 0], [0, 0]]
    assert [outcome.terminated.tolist() for outcome in outcomes[1:4]] == [[False, False], [True, False], [True, False]]
    assert outcomes[4].observation == {"blue": [0], "red": [10]}


def test_the_actions_of_all_agents_are_one_array() -> None:
    env = SimpleNamespace(action_space=lambda agent: SimpleNamespace(shape=(2,), low=-1.0, high=np.array([1.0, 2.0])))
    assert joint_actions(Race(), AGENTS) == Box((0, 0), (2, 1), (2,), "int32")
    assert joint_actions(env, AGENTS).high == (1, 2, 1, 2)


def test_parallel_environments_have_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "from test_agents import Race\nparallel_env = Race\n"
    (tmp_path / "race_of_two.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    names = "pettingzoo:race_of_two,pettingzoo:race_of_two"
    ran = run_command(main, "run", "--engines", names, "--games", "2", "--steps", "20", "--no-report")
    assert (ran.code, "40 steps compared" in ran.out) == (0, True), ran


def test_of_an_observation_of_jumanji_a_part_can_be_chosen() -> None:
    def time(state: Any) -> Any:  # noqa: ANN401 - pytrees
        return SimpleNamespace(
            observation={"seen": state, "hidden": -state}, reward=1.0, discount=0.0, last=lambda: state == 2
        )

    env = SimpleNamespace(
        reset=lambda key: (jnp.int32(0), time(jnp.int32(0))),
        step=lambda state, action: (state + 1, time(state + 1)),
        observation_spec={},
        action_spec={},
        reward_spec=None,
    )
    game = jumanji_game(env, lambda observation: {"seen": observation["seen"]})()
    assert game.begin(0).keys() == {"seen"}
    assert [game.act(0).observation, bool(game.act(0).terminated)] == [{"seen": 1}, True]
