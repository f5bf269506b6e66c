"""An agent that looks ahead while it is watched: the same search as that of `evaluate`."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hackmatrix.cli.main import main
from hackmatrix.rules import ACTIONS, NUM_ACTIONS
from rlworldkit.agents.agent import Agent, Player
from rlworldkit.agents.choice import Choice, Lookahead


def last_valid(seen: object, masks: NDArray[np.bool_], *_: object) -> NDArray[np.int32]:
    """A player of whom everybody knows what he does."""
    return (NUM_ACTIONS - 1 - masks[:, ::-1].argmax(axis=1)).astype(np.int32)


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
