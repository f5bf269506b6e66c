"""Prices of the reward, changed in environments and commands of any world; here Orchard's."""

import json
import pickle
import re
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.typing import NDArray
from orchard import WORLD
from orchard.env import OrchardJaxEnv
from written_page import episode_data, page_data

from rlparity.core.prices import changed_prices
from rlparity.core.trace import read_trace
from rlworldkit.cli.app import main
from rlworldkit.envs.gymnax_style import GymnaxStyle
from rlworldkit.envs.sb3_vec_env import WorldVecEnv
from rlworldkit.envs.spaces import env_id
from rlworldkit.jax import engine as jax_engine
from rlworldkit.show.play.game import PlayEngine
from rlworldkit.show.play.panes import title
from rlworldkit.show.play.session import PlaySession

OTHERS = {"fruit": 0.3, "sting": "-2"}
FACTORS = {"step": 1, "fruit": 3, "sting": 4}
"""What each component earns more with these prices than with the game's own."""
GAMES, STEPS = 16, 12


def earned(envs: Any, components: Callable[[Any], NDArray[Any]]) -> NDArray[np.float64]:  # noqa: ANN401 - of many games
    """The components (steps, games, 3) of random valid actions, as ``components`` finds them in a step's output."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(STEPS):
        actions = (envs.action_masks() * rng.random((GAMES, 6))).argmax(axis=1)
        found.append(components(envs.step(actions)))
    return np.array(found)


def check_pays(own: NDArray[np.float64], others: NDArray[np.float64]) -> None:
    assert own.any(axis=(0, 1)).all()
    assert np.allclose(others, own * list(FACTORS.values()), atol=1e-12)


@pytest.mark.parametrize("engine", ["plain", "jax"])
def test_environments_pay_the_prices_that_they_are_made_with(engine: str) -> None:
    def native(**prices: Any) -> NDArray[np.float64]:  # noqa: ANN401 - as gym.make_vec takes them
        envs = gym.make_vec(env_id(WORLD), GAMES, "vector_entry_point", engine=engine, **prices)
        envs.reset(seed=0)
        return earned(envs, lambda output: np.stack([output[4]["reward_breakdown"][name] for name in FACTORS], axis=1))

    def of_sb3(**prices: Any) -> NDArray[np.float64]:  # noqa: ANN401 - as the class takes them
        envs = WorldVecEnv(WORLD, GAMES, seed=0, engine=engine, **prices)
        envs.reset()
        return earned(envs, lambda output: np.array([list(info["reward_breakdown"].values()) for info in output[3]]))

    for made in (native, of_sb3):
        check_pays(made(), made(prices=OTHERS))


def test_a_pickled_environment_keeps_its_prices() -> None:
    env = gym.make(env_id(WORLD), prices={"step": 0.5}).unwrapped
    env.reset(seed=1)
    twin = pickle.loads(pickle.dumps(env))
    assert twin.world.price_values == env.world.price_values  # type: ignore[attr-defined]
    assert env.step(5)[1] == twin.step(5)[1] == 0.5
    assert changed_prices(gym.make(env.spec).unwrapped.world) == {"step": 0.5}  # type: ignore[arg-type, attr-defined]


def test_other_prices_compile_nothing_anew() -> None:
    gym.make(env_id(WORLD), engine="jax").reset()
    programs = len(jax_engine._PROGRAMS)
    gym.make(env_id(WORLD), engine="jax", prices=OTHERS).reset()
    assert len(jax_engine._PROGRAMS) == programs

    env = GymnaxStyle(OrchardJaxEnv())
    step: Any = jax.jit(env.step)
    key, (_, state) = jax.random.key(0), jax.jit(env.reset)(jax.random.key(0))
    rest = jnp.int32(5)
    for price in (-10, 700):
        params = env.default_params.replace(prices=(price, 100, -500))
        assert step(key, state, rest, params)[2] == np.float32(price / 1000)
    assert step._cache_size() == 1
    priced = GymnaxStyle(env.env.with_prices(np.array([700, 100, -500], np.int32)))
    assert jax.jit(priced.step)(key, state, rest)[2] == np.float32(0.7)


def test_evaluate_says_which_prices_it_counted_with(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    def figures(*words: str) -> tuple[Any, str]:
        command = ["evaluate", "random", "--episodes", "40", "--engine", "plain", "--json", str(tmp_path / "out.json")]
        assert main(WORLD, [*command, *words]) == 0
        return json.loads((tmp_path / "out.json").read_text()), capsys.readouterr().out

    path = tmp_path / "prices.toml"
    path.write_text("fruit = 0.2\nsting = -2\n")
    own, printed = figures()
    others, printed_others = figures("--prices", str(path), "--price", "fruit=0.3")
    assert (own["prices"], others["prices"]) == ({}, {"fruit": 0.3, "sting": -2.0})
    assert re.search(r"^ prices +the game's own *$", printed, re.MULTILINE)
    assert re.search(r"^ prices +fruit 0\.3, sting -2 *$", printed_others, re.MULTILINE)
    for name, factor in FACTORS.items():
        assert others["reward"][name]["mean"] == pytest.approx(factor * own["reward"][name]["mean"])
    assert (own["endings"], own["length"]) == (others["endings"], others["length"])


def test_what_is_watched_viewed_and_played_says_its_prices(
    params: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, trace = tmp_path / "page.html", tmp_path / "game.json"
    words = [str(params), "--max-steps", "9", "--seed", "5", "--price", "step=0.5", "--choose", "likeliest"]
    assert main(WORLD, ["watch", *words, "--render", "ansi"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert ", likeliest actions, prices step 0.5, plain " in said
    assert main(WORLD, ["view", *words, "--episodes", "1", "--output", str(page)]) == 0
    data = page_data(page.read_text(encoding="utf-8"))
    assert ", likeliest actions, prices step 0.5: game 5" in data["headline"]
    assert said.endswith(data["episodes"][0]["verdict"])
    assert data["episodes"][0]["verdict"].endswith("return 4.500")

    with closing(PlayEngine(WORLD.with_prices({"step": 0.5}), "plain")) as engine:
        session = PlaySession(engine, 3, trace)
        session.act(5)
        assert str(title(session, "", 80)).startswith("game 3, step 1, prices step 0.5 ")
        session.keep()
    assert read_trace(trace).prices == {"step": 0.5}
    for flags, start, paid in (
        ([], "seed 3, prices step 0.5", "500"),
        (["--price", "step=0.25"], "seed 3, prices step 0.25", "250"),
    ):
        for engines in ([], ["--engine", "plain"]):
            assert main(WORLD, ["view", str(trace), "--output", str(page), *engines, *flags]) == 0
            data = page_data(page.read_text(encoding="utf-8"))
            assert data["sides"] == (["plain"] if engines else ["plain", "jax"])
            assert f"Start: {start}." in data["about"][0]
            assert episode_data(page.read_text(encoding="utf-8"), 0)["steps"][1]["components"][0][1] == paid
