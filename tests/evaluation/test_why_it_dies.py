"""The script that asks why an agent dies: which deaths it finds, and which of them something could have avoided."""

import json
import runpy
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hackmatrix.evaluation import EVALUATION
from hackmatrix.explain.ending import Attacker
from hackmatrix.rules import ACTIONS
from hackmatrix.view_spec import VIEW
from hackmatrix.world import WORLD
from tests.rules.builders import LEFT, UP, state, virus
from worldkit.envs.episodes import Episodes
from worldkit.evaluation.choice import drawn
from worldkit.evaluation.play import play_episodes
from worldkit.watch.agents import load_agent
from worldkit.watch.frames import AgentPlayer

GAMES = 20
SCRIPT = Path(__file__).parents[2] / "python" / "scripts" / "why_it_dies.py"

pytestmark = pytest.mark.usefixtures("swift_built")


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    return runpy.run_path(str(SCRIPT))


@pytest.fixture(scope="module")
def watched(params: Path) -> AgentPlayer:
    return AgentPlayer(load_agent(VIEW, params), deterministic=False, player_seed=3)


@pytest.fixture(scope="module")
def deaths(script: dict[str, Any], watched: AgentPlayer) -> Sequence[Any]:
    deaths: Sequence[Any] = script["deaths_of"](watched, 7, GAMES)
    return deaths


def test_the_deaths_are_those_that_evaluate_sees(watched: AgentPlayer, deaths: Sequence[Any]) -> None:
    played = play_episodes(
        EVALUATION,
        lambda seen, masks, seeds, steps: drawn(watched.agent(seen)[0], masks, seeds, steps, 3),
        7,
        GAMES,
        num_envs=GAMES,
        engine="swift",
    )
    died = {episode.seed: episode.stats["steps"] for episode in played if episode.ending == "died"}
    assert {death.seed: death.step for death in deaths} == died
    assert len(died) > GAMES / 2
    for death in deaths:
        assert death.attackers
        assert list(death.before) == [steps for steps in (1, 2, 3, 5, 8, 12) if steps <= death.step]
        assert all(position.step == death.step - steps for steps, position in death.before.items())


def test_the_action_that_was_taken_leads_to_the_same_death(
    script: dict[str, Any], watched: AgentPlayer, deaths: Sequence[Any]
) -> None:
    """Played on from a position with the game's own chance and the agent's own draws, it dies in the very step."""
    tries, expected = [], []
    for death in deaths:
        taken = actions_of(watched, death.seed, death.step)
        for steps, position in death.before.items():
            action = taken[position.step]
            tries += [script["Try"](position, action, steps), script["Try"](position, action, steps - 1)]
            expected += [False, True]
    assert script["outlived"](watched, [one for one in tries if one.steps]) == [
        lives for one, lives in zip(tries, expected, strict=True) if one.steps
    ]


def actions_of(watched: AgentPlayer, seed: int, steps: int) -> list[int]:
    """The actions of a game, played from its start."""
    taken: list[int] = []
    with closing(Episodes(WORLD, 1, "swift")) as episodes:
        episodes.start(np.zeros(1, int), np.array([seed], np.uint64))
        for _ in range(steps):
            logits, _ = watched.agent(episodes.observation)
            action = drawn(logits, episodes.mask, episodes.seeds, episodes.statistics.steps, watched.player_seed)
            episodes.begin_step(action)
            episodes.finish_step()
            taken.append(action.item())
    return taken


def liking(action: int) -> AgentPlayer:
    """An agent that goes one way."""
    logits = np.where(np.arange(len(ACTIONS)) == action, 1, 0).astype(np.float32)
    return AgentPlayer(lambda seen: (np.tile(logits, (len(seen), 1)), np.zeros(len(seen), np.float32)))


def test_a_death_is_avoidable_where_some_action_is(script: dict[str, Any]) -> None:
    """Of two viruses beside a player with hp 1 one always attacks; a single one is shot, and else comes after him."""
    lost = state(player=(0, 0), hp=1, enemies=[virus(1, 0), virus(0, 1)], nextScheduledTaskTurn=99)
    shot = state(player=(0, 0), hp=1, enemies=[virus(0, 1, hp=1)], nextScheduledTaskTurn=99)
    moved = script["Try"](script["Position"](0, 9, shot), UP, 1)
    assert script["outlived"](liking(LEFT), [moved]) == [False]
    positions = [script["Position"](seed, 9, each) for seed, each in enumerate((lost, shot))]
    deaths = [script["Death"](each.seed, 10, 1, (), {1: each}) for each in positions]
    assert script["avoidable"](liking(LEFT), deaths)[1] == [False, True]


def test_a_game_that_is_won_is_no_death(script: dict[str, Any]) -> None:
    at_the_end = state(player=(4, 0), hp=1, stage=8, exit=(5, 0), enemies=[virus(0, 5)], nextScheduledTaskTurn=99)
    one = script["Try"](script["Position"](0, 9, at_the_end), UP, 11)
    assert script["outlived"](liking(UP), [one]) == [True]


def test_attackers_are_counted_by_type_and_origin(script: dict[str, Any]) -> None:
    killers = tuple(
        Attacker(kind, (0, 0), siphon, schedule)
        for kind, siphon, schedule in (
            ("virus", True, False),
            ("virus", False, True),
            ("virus", False, True),
            ("daemon", False, False),
        )
    )
    deaths = [script["Death"](0, 9, 3, killers[:3], {}), script["Death"](1, 9, 3, killers[3:], {})]
    figures = script["figures_of"](deaths, 5, {1: [True, False], 12: []})
    assert (figures["games"], figures["deaths"], figures["stages"]["3"]) == (5, 2, 2)
    assert figures["attackers"]["virus"] == {"stage's start": 0, "siphon": 1, "schedule": 2}
    assert figures["attackers"]["daemon"] == {"stage's start": 1, "siphon": 0, "schedule": 0}
    assert (figures["avoidable"]["1"]["deaths"], figures["avoidable"]["1"]["mean"]) == (2, 0.5)
    assert figures["avoidable"]["12"]["deaths"] == 0


def run(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [str(SCRIPT), *words])
    runpy.run_path(str(SCRIPT), run_name="__main__")


def test_it_prints_writes_and_draws(
    params: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    picture, figures = tmp_path / "deaths.png", tmp_path / "deaths.json"
    run([str(params), "--episodes", "4", "--picture", str(picture), "--json", str(figures)], monkeypatch)
    said = capsys.readouterr().out
    found = json.loads(figures.read_text())
    assert said.startswith(f"params_1.npz, drawn actions: {found['deaths']} deaths in 4 games from seed 0 on\n")
    assert "some action avoids it" in said
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert sum(found["stages"].values()) == found["deaths"]


def test_without_a_death_there_is_nothing_to_avoid(
    params: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "deaths.png"
    words = ["--episodes", "2", "--max-steps", "1", "--picture", str(picture), "--deterministic", "--json", "-"]
    run([str(params), *words], monkeypatch)
    said = capsys.readouterr()
    assert json.loads(said.out)["avoidable"]["1"] == {"deaths": 0, "mean": None, "low": 0.0, "high": 1.0}
    assert "likeliest actions: 0 deaths in 2 games" in said.err
    assert picture.exists()


def test_what_is_no_agent_is_one_sentence(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        run(["nothing.npz"], monkeypatch)
    assert stop.value.code == 2
    assert "nothing.npz does not exist" in capsys.readouterr().err
