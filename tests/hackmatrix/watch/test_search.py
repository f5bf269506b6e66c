"""An agent that looks ahead while it is watched: the same search as that of `evaluate`."""

import contextlib
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hackmatrix.cli.main import main
from hackmatrix.rules import ACTIONS, NUM_ACTIONS
from hackmatrix.world import WORLD
from rlworldkit.agents.agent import Agent, AgentPlayer, Player
from rlworldkit.agents.choice import Choice, Lookahead
from rlworldkit.agents.read import read_agent
from rlworldkit.envs.episodes import Episodes
from rlworldkit.evaluation.play import play_episodes
from rlworldkit.watch.frames import frames

GAMES = 5
MOST_STEPS = 12


def last_valid(seen: object, masks: NDArray[np.bool_], *_: object) -> NDArray[np.int32]:
    """A player of whom everybody knows what he does."""
    return (NUM_ACTIONS - 1 - masks[:, ::-1].argmax(axis=1)).astype(np.int32)


def test_what_is_watched_is_what_evaluate_plays(swift_built: None, params: Path) -> None:
    """Some games begin after others have ended, which the search goes on following meanwhile."""

    def all_together(*seen: NDArray[Any]) -> NDArray[np.int32]:
        assert {len(part) for part in seen} == {GAMES}
        return last_valid(*seen)

    count = GAMES + 3
    expected = play_episodes(WORLD, all_together, 40, count, num_envs=GAMES, engine="swift", max_steps=MOST_STEPS)
    watched = AgentPlayer(read_agent(WORLD, params), searcher=all_together)
    with contextlib.closing(Episodes(WORLD, GAMES, "swift", max_episode_steps=MOST_STEPS)) as episodes:
        lasts = {last.seed: last for last in frames(episodes, watched, 40, count) if last.ending is not None}
    assert len(lasts) == count
    for episode in expected:
        last = lasts[episode.seed]
        assert (last.ending, last.step) == (episode.ending, episode.stats["steps"])
        assert dict(zip(WORLD.components, last.earned.tolist(), strict=True)) == episode.stats["reward_breakdown"]


@pytest.fixture
def chosen(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Instead of a search, which compiles for long: the last valid action, and which it was in one game."""
    actions: list[str] = []

    def made(world: object, env: object, agent: Agent, choice: Choice) -> Player:
        assert (agent.path.name, choice) == ("params_1.npz", Choice(player_seed=9, search=Lookahead(2, 2)))

        def choose(*seen: NDArray[Any]) -> NDArray[np.int32]:
            taken = last_valid(*seen)
            actions.append(ACTIONS[taken[0]])
            return taken

        return choose

    monkeypatch.setattr("rlworldkit.agents.search.searcher_of", made)
    return actions


SEARCH = ["--search", "2x2", "--player-seed", "9", "--max-steps", "2"]


def test_the_search_chooses_and_the_agent_s_thoughts_are_shown(
    swift_built: None, chosen: list[str], params: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["watch", str(params), *SEARCH, "--render", "ansi"]) == 0
    output = capsys.readouterr()
    assert output.out.startswith("params_1.npz, a search of 2×2 steps, swift\n")
    engine = "Engine: swift, the reference of hackmatrix.\n"
    assert output.err == f"Compiling the search, which takes about a minute ...\n{engine}"
    _, *played = chosen  # the first was to compile
    assert re.findall(r"^action (\w+) ", output.out, re.MULTILINE) == played
    assert len(played) == output.out.count("▸") == 2
