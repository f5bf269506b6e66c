"""Environments of any form: dict observations, array actions, several players; and those that break the rules."""

import os
from collections.abc import Callable
from typing import Any

import faulty_orchard
import gymnasium
import numpy as np
import pytest
from command_line import Ran, rlparity

from rlparity import Box, MultiDiscrete, Pairing, Tolerance, World
from rlparity.adapters.gymnasium import GymGame
from rlparity.adapters.pytree import PytreeGame
from rlparity.adapters.single import Outcome, SingleGame
from rlparity.core.lockstep import Settings, run
from rlparity.core.trace import read_trace
from rlparity.errors import EngineError

MOVES = np.array([[-1, 0], [1, 0], [0, -1], [0, 1]])
NAMES = "up", "down", "left", "right"
PARTS: dict[str, tuple[int, ...]] = {"agent.at": (2,), "agent.coins": (), "grid": (3, 3), "mission": ()}
Game = Callable[[], SingleGame]


class Grid(SingleGame):
    """A coin lies in a corner of a board of 3 x 3 cells; a wall is all around, and nine moves end the game."""

    edge = 2

    def begin(self, seed: int) -> Any:  # noqa: ANN401 - a dict
        self.at = np.random.default_rng(seed).integers(0, 3, 2)
        self.coin, self.moves = bool((self.at != 2).any()), 0
        return self.seen()

    def act(self, action: int) -> Outcome:
        self.at = np.clip(self.at + MOVES[action], 0, [self.edge, 2])
        earned = float(self.coin and (self.at == 2).all())
        self.coin, self.moves = self.coin and not earned, self.moves + 1
        return Outcome(self.seen(), earned, self.moves == 9, False)

    def seen(self) -> dict[str, Any]:
        grid = np.zeros((3, 3), np.uint8)
        grid[2, 2] = self.coin
        agent = {"at": self.at.astype(np.int32), "coins": np.int32(not self.coin)}
        return {"grid": grid, "agent": agent, "mission": "take it" if self.coin else "walk"}


class SameGrid(Grid):
    """The same a second time."""


class LowGrid(Grid):
    """Its wall is elsewhere."""

    edge = 1


class SilentGrid(Grid):
    def seen(self) -> dict[str, Any]:
        return {**super().seen(), "mission": ""}


class TextlessGrid(Grid):
    def seen(self) -> dict[str, Any]:
        return {name: part for name, part in super().seen().items() if name != "mission"}


def grid_world(port: Game, **parts: Any) -> World:  # noqa: ANN401 - of a pairing
    return Pairing("grid", {"grid": Grid, "port": port}, NAMES, PARTS, **parts).world()


def play(world: World, *words: Any) -> Ran:  # noqa: ANN401 - words of a command
    faulty_orchard.ANY = world  # type: ignore[attr-defined]
    return rlparity("run", *words, "--games", "8", "--steps", "40", world="faulty_orchard:ANY")


def test_a_port_of_a_grid_world_with_dict_observations_is_identical() -> None:
    assert play(grid_world(SameGrid), "--no-report").code == 0
    assert play(grid_world(SameGrid), "--no-report", "--auto-reset").code == 0


def test_a_fault_in_a_part_of_a_dict_observation_is_named_and_shrunk(tmp_path: Any) -> None:  # noqa: ANN401
    ran = play(grid_world(LowGrid), "--out", tmp_path)
    assert ran.code == 1
    trace = read_trace(tmp_path / "trace.json")
    assert trace.case.actions in ((1,), (2,), (3,))
    assert {"observation.agent.at[0]"} == {found.field for found in trace.differences}
    assert rlparity("replay", tmp_path / "trace.json", world="faulty_orchard:ANY").code == 1


def test_a_tolerance_of_a_part_and_an_ignored_one_say_why() -> None:
    reason = Tolerance(ignored=True, reason="the port has no texts")
    ran = play(grid_world(SilentGrid, tolerances={"observation.mission": reason}), "--no-report")
    assert ran.code == 0
    assert "Not compared bit for bit: observation.mission ignored (the port has no texts)." in ran.out
    assert play(grid_world(SilentGrid), "--no-report").code == 1
    said = play(grid_world(TextlessGrid), "--no-report").refusal(3)
    assert "'port' gives observations with grid (3, 3), agent.at (2,), agent.coins (): world 'grid' wants agent" in said


class Pennies(SingleGame):
    """Two players show a coin: the first wins where they match. Who has lost thrice is out; the game ends with both."""

    sign = 1.0

    def begin(self, seed: int) -> Any:  # noqa: ANN401 - an array
        self.lost = np.random.default_rng(seed).integers(0, 3, 2)
        return self.lost.copy()

    def act(self, action: Any) -> Outcome:  # noqa: ANN401 - (2,) int32
        assert action.shape == (2,)
        assert action.dtype == np.int32
        loser = int(action[0] == action[1])
        self.lost[loser] += 1
        won = np.array([1, -1] if loser else [-1, self.sign], np.float32)
        return Outcome(self.lost.copy(), won, self.lost >= 3)


class WrongPennies(Pennies):
    sign = 2.0


def pennies(other: Game) -> World:
    return Pairing("pennies", {"one": Pennies, "two": other}, MultiDiscrete((2, 2)), (2,), players=2).world()


def test_players_have_rewards_and_ended_flags_of_their_own(tmp_path: Any) -> None:  # noqa: ANN401
    assert run(pennies(Pennies), ("one", "two"), Settings(games=4, steps=40)).episodes > 4
    assert play(pennies(WrongPennies), "--out", tmp_path).code == 1
    trace = read_trace(tmp_path / "trace.json")
    fields = {found.field for found in trace.differences}
    assert fields == {"components[reward of player 1]", "reward[1]"}
    (shown,) = trace.case.actions
    assert shown in ((0, 1), (1, 0))


class Point(SingleGame):
    """A point is pushed in a plane by as much as an action says, up to where it has left the unit circle."""

    limit = np.float32(np.inf)

    def begin(self, seed: int) -> Any:  # noqa: ANN401 - an array
        self.at = np.random.default_rng(seed).uniform(-0.5, 0.5, 2).astype(np.float32)
        return self.at.copy()

    def act(self, action: Any) -> Outcome:  # noqa: ANN401 - (2,) float32
        assert (np.abs(action) <= [0.25, 1.5]).all()
        self.at = self.at + np.minimum(action, self.limit)
        return Outcome(self.at.copy(), float(action[0]), bool((self.at**2).sum() > 1), False)


class SamePoint(Point):
    """The same a second time."""


class ShortPoint(Point):
    limit = np.float32(1.4)


def test_actions_that_are_arrays_are_drawn_within_bounds_and_recorded_exactly(tmp_path: Any) -> None:  # noqa: ANN401
    space = Box((-0.25, -1.5), (0.25, 1.5), (2,))
    same = Pairing("point", {"one": Point, "two": SamePoint}, space, (2,)).world()
    assert play(same, "--no-report").code == 0
    world = Pairing("point", {"one": Point, "two": ShortPoint}, space, (2,)).world()
    assert play(world, "--out", tmp_path).code == 1
    trace = read_trace(tmp_path / "trace.json")
    (push,) = trace.case.actions
    assert isinstance(push, tuple)
    x, y = push
    assert y > 1.4
    assert (x, y) == (float(np.float32(x)), float(np.float32(y)))
    assert [found.field for found in trace.differences] == ["observation[1]"]
    assert rlparity("replay", tmp_path / "trace.json", world="faulty_orchard:ANY").code == 1
    text = (tmp_path / "trace.json").read_text().replace(f"[[{x!r}, {y!r}]]", "[3]")
    (tmp_path / "other.json").write_text(text)
    said = rlparity("replay", tmp_path / "other.json", world="faulty_orchard:ANY").refusal()
    assert "holds action 3, which world 'point' does not have" in said


class Line(SingleGame):
    """Counts to five from a number that the seed tells."""

    def begin(self, seed: int) -> Any:  # noqa: ANN401 - an array
        self.at = np.array([seed % 1000, 0], np.float32)
        return self.at.copy()

    def act(self, action: int) -> Outcome:
        self.at[1] += 1
        return Outcome(self.at.copy(), 1.0, bool(self.at[1] == 5))


class Deaf(Line):
    def begin(self, seed: int) -> Any:  # noqa: ANN401 - an array
        return super().begin(int(np.random.default_rng().integers(1000)))


class Noisy(Line):
    def act(self, action: int) -> Outcome:
        self.at[0] += np.random.default_rng().random()
        return super().act(action)


class Wide(Line):
    def act(self, action: int) -> Outcome:
        outcome = super().act(action)
        return Outcome(outcome.observation.astype(np.float64), 1.0, outcome.terminated)


class InPlace(Line):
    def begin(self, seed: int) -> Any:  # noqa: ANN401 - an array
        super().begin(seed)
        return self.at


class Unset(Line):
    def act(self, action: int) -> Outcome:
        return Outcome({"at": None}, 1.0, False)


class Talking(Line):
    def act(self, action: int) -> Outcome:
        print("moving")
        os.write(1, b"as no Python does\n")
        return super().act(action)


def test_what_an_environment_prints_is_no_part_of_the_json(capfd: pytest.CaptureFixture[str]) -> None:
    world = Pairing("line", {"good": Line, "talking": Talking}, ("go",), (2,)).world()
    ran = play(world, "--json", "--no-report")
    assert (ran.json["steps_compared"] > 0, "moving" in ran.err, "moving" in ran.out) == (True, True, False)
    assert {*capfd.readouterr().err.splitlines()} == {"as no Python does"}


@pytest.mark.parametrize("given", [(0, 0, 0.0), (0, 0, 0.0, True, {"discount": 1.0})])
def test_a_step_that_gives_other_values_is_refused(given: tuple[Any, ...]) -> None:
    game = PytreeGame(lambda key: (0, 0), lambda key, state, action: given)
    game.begin(0)
    with pytest.raises(EngineError, match=f"its step gives {len(given)} values, or infos among them: give observation"):
        game.act(0)


class Window(gymnasium.Env[Any, Any]):
    render_mode = "human"


def cart() -> gymnasium.Env[Any, Any]:
    return gymnasium.make("CartPole-v1")


@pytest.mark.parametrize(
    ("game", "sentence"),
    [
        (Deaf, "engine 'bad' plays different games from the same seed: after reset it shows something else"),
        (Noisy, "engine 'bad' plays different games from the same seed: after step 1 it shows something else"),
        (
            Wide,
            "engine 'bad' failed in step: its step returns an observation of float64 (2,), after one of float32 (2,)",
        ),
        (InPlace, "engine 'bad' failed in step: its step changes the observation that was returned before"),
        (Unset, "engine 'bad' failed in step: an observation holds a NoneType, where arrays, numbers and texts"),
        (lambda: GymGame(Window), "engine 'bad' failed in start: its environment opens a window"),
        (
            lambda: GymGame(cart, ("state",)),
            "engine 'bad' failed in start: it has to_dict or start alone: give observe, too",
        ),
        (
            lambda: GymGame(cart, ("state",), observe=np.asarray),
            "engine 'bad' failed in start: its games have states: name their fields, or change state_fields",
        ),
    ],
)
def test_an_environment_that_breaks_the_rules_is_one_sentence(game: Game, sentence: str) -> None:
    world = Pairing("line", {"good": Line, "bad": game}, ("go",), (2,)).world()
    ran = play(world, "--no-report")
    assert (ran.code in (2, 3), ran.out, ran.err.count("\n")) == (True, "", 1), ran
    assert sentence in ran.err
