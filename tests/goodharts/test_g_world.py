"""Parts of directed runs: starts, policies, smaller states, boards, golden episodes, mutants."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from reading_worlds import PAIRED
from single_games import made, open_game

from goodharts.architecture import NetworkConfig
from goodharts.exploration.policies import policies
from goodharts.exploration.starts import STARTS
from goodharts.models import Model, write_model
from goodharts.render.board import FOOD_COLOUR, POISON_COLOUR, colour_of, draw_board
from goodharts.rules import ACTIONS, MODES
from goodharts.torch_networks import ActorCritic
from goodharts.world import GROUND_TRUTH, WORLDS
from rlparity import State, UsageError, View
from rlparity.cli.main import main
from rlparity.core.source_specs import open_source
from rlparity.testing import assert_golden
from rlworldkit.render.colours import AGENT, MUTED
from tests.played import check_smaller_states

ONLY = np.zeros(1, np.intp)


def draws(name: str, count: int) -> list[State]:
    rng = np.random.default_rng(list(STARTS).index(name))
    return [STARTS[name](rng) for _ in range(count)]


@pytest.mark.parametrize("name", ["scattered", "plenty", "extreme"])
def test_smaller_states_are_smaller_and_mostly_taken(name: str) -> None:
    check_smaller_states(GROUND_TRUTH, GROUND_TRUTH.engines["torch"](1), draws(name, 1)[0])


def weights(policy: str, state: State, mode: str = "ground_truth") -> dict[str, float]:
    engine = PAIRED[mode].engines["torch"](1)
    observation = engine.set_state([state], ONLY)
    view = View(observation, engine.mask(), ONLY, engine.get_state)
    given = policies(MODES[mode])[policy](view)
    assert given.shape == (1, len(ACTIONS))
    assert (given > 0).all()
    return dict(zip(ACTIONS, given[0].tolist(), strict=True))


@pytest.mark.parametrize("mode", MODES)
def test_policies_know_what_a_mode_shows(mode: str) -> None:
    state = made(food=[(3, 0), (-5, 1)], poison=[(0, -1), (1, 0)])
    eats = weights("eat", state, mode)
    assert max(eats, key=eats.__getitem__) in ("up_right", "down_right"), "around the poison on the right"
    assert eats["right"] == min(eats.values())
    kills = weights("seek_poison", state, mode)
    assert {name for name in ACTIONS if kills[name] == 1.0} == {"up", "right"}
    starves = weights("starve", state, mode)
    assert {name for name in ACTIONS if starves[name] < 1.0} == {"up", "right"}


def test_who_circles_comes_back_and_who_wanders_goes_one_way() -> None:
    with open_game("torch") as game:
        game.set_state(made())
        for _ in range(8):
            given = weights("circle", game.get_state())
            game.step(ACTIONS.index(max(given, key=given.__getitem__)))
        state = game.get_state()
    assert (state["x"], state["y"]) == (50, 60)
    assert [name for name, weight in weights("wander", made()).items() if weight == 1.0] == ["up_left"]


def test_a_board_shows_what_is_around_the_agent_in_the_colours_of_its_picture() -> None:
    board = draw_board(made(0, 127, food=[(1, 0)], poison=[(0, 1)], energy=1250, key=(1, 2)))
    middle = len(board.rows) // 2
    assert board.rows[middle][middle : middle + 3] == ("@", "o", ".")
    assert board.rows[middle + 1][middle] == "x"
    assert (board.scalars["energy"], board.scalars["key"], board.scalars["food"]) == (1.25, "0000000200000001", 1)
    signs = {sign for row in board.rows for sign in row}
    colours = {"@": AGENT, "o": FOOD_COLOUR, "x": POISON_COLOUR, ".": MUTED}
    assert {sign: colour_of(sign) for sign in signs} == colours
    for names in (GROUND_TRUTH.row_names, GROUND_TRUTH.column_names):
        assert (len(names), names[0], names[8], names[-1]) == (len(board.rows), "-8", "0", "+8")
    assert GROUND_TRUTH.observation_label is not None
    assert GROUND_TRUTH.observation_label((1, 5, 6)) == "poison at (+1, +0)"


@pytest.mark.parametrize("other", ["reading", pytest.param("jax", marks=pytest.mark.long)])
@pytest.mark.parametrize("mode", MODES)
def test_no_golden_episode_has_changed_on_any_engine(mode: str, other: str) -> None:
    assert_golden(PAIRED[mode], ("torch", other))


@pytest.mark.long
@pytest.mark.parametrize("mode", ["ground_truth_handhold", "proxy"])
def test_every_fault_is_noticed(mode: str) -> None:
    assert main(["mutants", "--world", f"goodharts-{mode}", "--games", "24", "--steps", "100"]) == 0


@pytest.mark.long
def test_an_edit_that_computes_the_same_leaves_the_program_in_jax_as_it_is(tmp_path: Path) -> None:
    bench = next(each for each in WORLDS["proxy"].benches if each.engine == "jax")
    for part in bench.parts:
        shutil.copytree(bench.source / part, tmp_path / part)
    source = tmp_path / "goodharts/jax_env/rewards.py"
    text = source.read_text()
    programs = []
    for total in ("parts.sum(axis=-1)", "parts.sum(-1)", "parts.max(axis=-1)"):
        source.write_text(text.replace("parts.sum(axis=-1)", total))
        programs.append(bench.program and bench.program(tmp_path))
    assert programs[0] == programs[1] != programs[2]


def test_a_trained_policy_plays_in_its_own_world(tmp_path: Path) -> None:
    network = NetworkConfig("mlp", hidden=8, privileged=False)
    model = Model("proxy", network, {}, 1, 2, ActorCritic(network))
    path = tmp_path / "ppo_proxy.pth"
    write_model(path, model)
    observation = np.random.default_rng(0).random((3, 2, 11, 11), np.float32)
    view = View(observation, np.ones((3, len(ACTIONS)), np.bool_), np.arange(3), lambda slots: [])
    source = open_source(f"policy:{path}", WORLDS["proxy"], 3, np.random.default_rng(0))
    weights = source.weights(view)
    logits = model.policy.logits(torch.from_numpy(observation)).softmax(dim=1).detach().numpy()
    np.testing.assert_allclose(weights / weights.sum(axis=1, keepdims=True), logits, rtol=1e-6)
    with pytest.raises(UsageError, match="trained in mode proxy: give a model of goodharts-ground_truth"):
        open_source(f"policy:{path}", GROUND_TRUTH, 3, np.random.default_rng(0))
