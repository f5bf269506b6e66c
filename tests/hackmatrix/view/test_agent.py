"""The games on a page are those that `watch` shows, all of them, in the order of their seeds."""

import contextlib
from pathlib import Path

import pytest

from hackmatrix.explain.ending import STEP_LIMIT
from hackmatrix.rules import SIZE
from hackmatrix.world import WORLD
from rlparity.viewer.page import Episode
from rlworldkit.agents.agent import AgentPlayer
from rlworldkit.agents.reader import read_agent
from rlworldkit.envs.episodes import Episodes
from rlworldkit.show.pages.agent import episodes
from rlworldkit.show.watch.frames import frames

FIRST, COUNT, MOST_STEPS = 40, 7, 25


def shown(watched: AgentPlayer, side_by_side: int) -> list[Episode]:
    with contextlib.closing(Episodes(WORLD, side_by_side, engine="swift", max_episode_steps=MOST_STEPS)) as opened:
        return list(episodes(frames(opened, watched, FIRST, COUNT)))


def test_each_step_has_its_board_its_decision_and_what_it_earned(swift_built: None, params: Path) -> None:
    watched = AgentPlayer(read_agent(WORLD, params))
    with contextlib.closing(Episodes(WORLD, 2, engine="swift", max_episode_steps=MOST_STEPS)) as opened:
        seen = [moment for moment in frames(opened, watched, 3, 2) if moment.seed == 3]
    (episode,) = episodes(seen)
    steps = list(episode.steps)
    assert (steps[0].action, steps[0].components, steps[0].decision) == ("start", None, None)
    for moment, step in zip(seen[1:], steps[1:], strict=True):
        assert step.boards == (WORLD.draw(moment.state),)
        assert step.components == (tuple(moment.components.tolist()),)
        assert step.decision is not None
        assert moment.decision is not None
        assert step.decision.value == moment.decision.value
        assert sum(step.decision.probabilities.values()) == pytest.approx(1)
        assert step.decision.probabilities[step.action] == moment.decision.probabilities[moment.decision.action]


def test_every_episode_tells_its_end_where_the_player_stands(swift_built: None, params: Path) -> None:
    for episode in shown(AgentPlayer(read_agent(WORLD, params)), 4):
        *_, last = episode.steps
        (board,) = last.boards
        assert episode.end is not None
        assert "@" in board.rows[episode.end.row][episode.end.column].split()
        assert episode.end.level == f"stage {board.scalars['stage']}"
        is_cut_off = len(list(episode.steps)) == MOST_STEPS + 1 and board.scalars["hp"] != 0
        assert (episode.end.cause == STEP_LIMIT) == is_cut_off
        assert 0 <= episode.end.row < SIZE
