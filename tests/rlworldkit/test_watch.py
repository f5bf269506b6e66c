"""Orchard is watched, played and viewed with what rlworldkit has for any world; keys change nothing but the pace."""

import asyncio
import contextlib
from pathlib import Path
from typing import Any

import imageio_ffmpeg
import numpy as np
import pygame
import pytest
from numpy.typing import NDArray
from orchard import WORLD
from PIL import Image
from written_page import episode_data, page_data

from rlparity.core.trace import read_trace
from rlworldkit.agents.agent import DRAWN, LIKELIEST, AgentPlayer, Choice, Player
from rlworldkit.agents.reader import read_agent
from rlworldkit.cli.app import main
from rlworldkit.envs.episodes import Episodes
from rlworldkit.evaluation.play import play_episodes
from rlworldkit.render.window import Window
from rlworldkit.show.play.app import PlayApp
from rlworldkit.show.play.game import PlayEngine
from rlworldkit.show.play.panes import layout_of
from rlworldkit.show.play.session import PlaySession
from rlworldkit.show.watch.controls import Controls
from rlworldkit.show.watch.frames import frames

MOST_STEPS, GAMES = 80, 3


def last_valid(*seen: NDArray[Any]) -> NDArray[np.int32]:
    """A search of whom everybody knows what it does; it is asked about all games, those that have ended too."""
    assert {len(part) for part in seen} == {GAMES}
    return (len(WORLD.actions) - 1 - seen[1][:, ::-1].argmax(axis=1)).astype(np.int32)


@pytest.mark.parametrize(("how", "searcher"), [(LIKELIEST, None), (DRAWN, None), (DRAWN, last_valid)])
def test_what_is_watched_is_what_evaluate_plays(params: Path, how: str, searcher: Player | None) -> None:
    """Some games begin after others have ended."""
    player = AgentPlayer(read_agent(WORLD, params), Choice(how, player_seed=5), searcher)
    count = 2 * GAMES + 1
    expected = play_episodes(WORLD, player, 40, count, num_envs=GAMES, engine="plain", max_steps=MOST_STEPS)
    with contextlib.closing(Episodes(WORLD, GAMES, engine="plain", max_episode_steps=MOST_STEPS)) as opened:
        lasts = {last.seed: last for last in frames(opened, player, 40, count) if last.ending is not None}
    assert len(lasts) == count
    for episode in expected:
        last = lasts[episode.seed]
        assert (last.ending, last.step) == (episode.ending, episode.stats["steps"])
        assert dict(zip(WORLD.components, last.earned.tolist(), strict=True)) == episode.stats["reward_breakdown"]


def test_the_picture_a_film_a_window_and_a_page_show_the_same_games(
    params: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setattr("rlworldkit.show.watch.controls._END_SECONDS", 0)
    sizes: set[tuple[int, int]] = set()
    show = Window.show

    def shown(window: Window, picture: pygame.Surface) -> None:
        show(window, picture)
        sizes.add(picture.get_size())

    monkeypatch.setattr(Window, "show", shown)
    words = [str(params), "--episodes", "2", "--max-steps", "3", "--seed", "5"]
    film, page = tmp_path / "film.mp4", tmp_path / "page.html"
    assert main(WORLD, ["watch", *words, "--render", "human", "--speed", "100", "--record", str(film)]) == 0
    verdicts = capsys.readouterr().out.splitlines()[:2]
    assert sizes == {(1208, 608)}
    assert imageio_ffmpeg.count_frames_and_secs(str(film))[0] == 8
    assert main(WORLD, ["watch", *words, "--render", "ansi"]) == 0
    assert [line for line in capsys.readouterr().out.splitlines() if line in verdicts] == sorted([*verdicts, *verdicts])
    assert main(WORLD, ["view", *words, "--output", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert main(WORLD, ["watch", *words, "--steps", "2", "--record", str(tmp_path / "last.png")]) == 0
    assert "game 5: left after 2 steps" in capsys.readouterr().out
    with Image.open(tmp_path / "last.png") as last:
        assert last.size == (1208, 608)
    on_page = [episode["verdict"] for episode in page_data(text)["episodes"]]
    assert [f"game {5 + number}: {verdict}" for number, verdict in enumerate(on_page)] == verdicts
    assert episode_data(text, 0)["steps"][0]["action"] == "start"


def test_a_game_is_played_by_keys_and_saved(params: Path, tmp_path: Path) -> None:
    trace = tmp_path / "game.json"
    with contextlib.closing(PlayEngine(WORLD, "plain")) as engine:
        session = PlaySession(engine, 3, trace, AgentPlayer(read_agent(WORLD, params), Choice(LIKELIEST)))

        async def played() -> list[str]:
            app = PlayApp(session, Controls(4))
            async with app.run_test(size=layout_of(session, large=False).size) as pilot:
                await pilot.press("up", "a", "b", "tab", "right")
                await pilot.pause()
                return [strip.text.rstrip() for strip in app.screen._compositor.render_strips()]

        seen = asyncio.run(played())
    assert [WORLD.actions[turn.action] for turn in session.game.turns] == ["up", "rest"]
    assert seen[0].startswith("game 3, step 2: looking ahead")
    assert seen[1] == "·       ·       ●●●     ·        hp 3"
    assert "a pick  not valid" in seen[7]
    assert seen[9:11] == ["right would earn -0.01 = -0.01 step", "turn 2 → 3"]
    session.keep()
    assert (read_trace(trace).case.seed, read_trace(trace).case.actions) == (3, (0, 5))
