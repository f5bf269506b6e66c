"""Rows on the dashboard: the newest numbers, curves of a limited length, and the state of each mode."""

import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goodharts.dashboard import page
from goodharts.dashboard.progress import POINTS, Curve, Progress

NAMES = st.text() | st.sampled_from(["update", "updates", "entropy", "seconds_left", "action_prob_3"])
ANYTHING = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just(10**400) | st.lists(st.none())


@settings(max_examples=25)
@given(st.integers(0, 3000), st.integers(0, 2**32))
def test_a_curve_keeps_the_mean_and_the_order_in_few_points(count: int, seed: int) -> None:
    values = np.random.default_rng(seed).normal(size=count)
    curve = Curve()
    for update, value in enumerate(values):
        curve.add({"update": update, "entropy": value})
    points = curve.points()
    assert len(points) <= 2 * POINTS
    updates = [point["update"] for point in points]
    assert updates == sorted(updates)
    whole, rest = divmod(len(values), curve.width)
    sizes = [curve.width] * whole + [rest] * bool(rest)
    total = math.fsum(size * point["entropy"] for size, point in zip(sizes, points, strict=True))
    assert total == pytest.approx(math.fsum(values), abs=1e-9)


def test_a_short_curve_has_every_row() -> None:
    curve = Curve()
    rows = [{"update": update, "entropy": update**0.5} for update in range(POINTS)]
    for row in rows:
        curve.add(row)
    assert curve.points() == tuple(rows)


def test_unknown_numbers_are_left_out_of_a_points_mean() -> None:
    curve = Curve()
    for update in range(4 * POINTS):
        curve.add({"update": update} if update % 4 else {"update": update, "episode_reward": 8.0})
    assert curve.width == 4
    assert {point["episode_reward"] for point in curve.points()} == {8.0}


@settings(max_examples=40)
@given(
    st.lists(st.dictionaries(st.text() | st.sampled_from(["update", "updates", "entropy", "seconds_left"]), ANYTHING))
)
def test_no_row_is_too_odd_to_be_shown(rows: list[dict[str, Any]]) -> None:
    progress = Progress(["proxy"])
    for row in rows:
        progress.update({**row, "mode": "proxy"})
        progress.update(row)
    run = progress.view()
    assert run.modes[0].state == ("training" if rows else "waiting")
    assert page.headline(run)
    assert "proxy" in repr(page.card(run.modes[0]))
    for metric in page.METRICS:
        assert len(page.figure(run, metric)["data"]) == 1


def test_what_a_row_does_not_know_stays_as_it_was() -> None:
    progress = Progress(["proxy"])
    progress.update({"mode": "proxy", "update": 4, "episode_reward": np.float32(2.5), "entropy": 2.0})
    progress.update({"mode": "proxy", "update": 5, "episode_reward": None, "entropy": math.nan})
    progress.update({"mode": "proxy"})
    newest = progress.view().modes[0].newest
    assert newest == {"update": 6, "episode_reward": 2.5, "entropy": 2.0}


def test_every_thread_may_hand_rows_in() -> None:
    modes = ["ground_truth", "proxy"]
    progress = Progress(modes)

    def feed(mode: str) -> None:
        for update in range(1, 501):
            progress.update({"mode": mode, "update": update})
            progress.view()

    with ThreadPoolExecutor() as pool:
        list(pool.map(feed, modes))
    assert [mode.newest["update"] for mode in progress.view().modes] == [500, 500]
    assert progress.revision == 1000


def test_at_the_end_a_mode_is_finished_if_it_made_its_last_update_and_else_stopped() -> None:
    progress = Progress(["ground_truth", "proxy", "proxy_mortal", "ground_truth_blinded"])
    progress.update({"mode": "ground_truth", "update": 8, "updates": 8})
    progress.update({"mode": "proxy", "update": 7, "updates": 8})
    progress.finish("proxy_mortal", "The disk is full.", "failed")
    progress.end()
    run = progress.view()
    assert [mode.state for mode in run.modes] == ["finished", "stopped", "failed", "stopped"]
    assert run.is_over
    assert page.headline(run) == "1 of 4 modes failed"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(-1, "0 s"), (59.4, "59 s"), (59.6, "1 min 00 s"), (3605, "1 h 00 min"), (90_000, "1 d 01 h")],
)
def test_times_are_said_in_their_two_largest_units(seconds: float, words: str) -> None:
    assert page.duration(seconds) == words


def test_the_rose_has_each_move_in_its_direction() -> None:
    progress = Progress(["proxy"])
    progress.update({"mode": "proxy", **{f"action_prob_{action}": action / 28 for action in range(8)}})
    _, rose = page.rose(progress.view().modes[0]).children
    assert [cell.children for cell in rose.children] == [
        *("↖ 0 %", "↑ 11 %", "↗ 18 %"),
        *("← 4 %", None, "→ 21 %"),
        *("↙ 7 %", "↓ 14 %", "↘ 25 %"),
    ]
    assert "up left 0 %, left 4 %, down left 7 %, up 11 %" in getattr(rose, "aria-label")
