"""The page of live runs in a browser: headless Chromium, driven by Playwright."""

import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Dialog, Locator, Page, expect

from rlworldkit.runs.live_page import LivePage

from .live_runs import is_stopping, metrics, started


@pytest.fixture(scope="module")
def complaints() -> list[str]:
    """Errors and warnings on the browser's console, and requests of the pages to other hosts."""
    return []


@pytest.fixture(autouse=True)
def nothing_complains(complaints: list[str]) -> Iterator[None]:
    yield
    assert complaints == []


Open = Callable[[LivePage], Page]


@pytest.fixture(scope="module")
def open_page(context: BrowserContext, complaints: list[str]) -> Open:
    """Open a page in another tab, whose console and requests are watched."""

    def note(is_wrong: bool, what: str) -> None:
        if is_wrong:
            complaints.append(what)

    def open_page(live: LivePage) -> Page:
        own = urlsplit(live.url).netloc, ""  # data: has no host
        tab = context.new_page()
        tab.on("console", lambda message: note(message.type in ("error", "warning"), message.text))
        tab.on("pageerror", lambda error: note(True, str(error)))
        tab.on("request", lambda request: note(urlsplit(request.url).netloc not in own, request.url))
        tab.goto(live.url)
        return tab

    return open_page


@pytest.fixture(scope="module")
def live() -> Iterator[LivePage]:
    """The page of four runs in the midst of their training."""
    with started(until=700, poll_seconds=0.15) as live:
        yield live


@pytest.fixture(scope="module")
def tab(live: LivePage, open_page: Open) -> Iterator[Page]:
    tab = open_page(live)
    yield tab
    live.close()


def card(tab: Page, run: str) -> Locator:
    return tab.get_by_role("article", name=run, exact=True)


def points(tab: Page, metric: str) -> list[int]:
    """Count the points of the lines of a chart."""
    found: list[int] = tab.locator(f"figure[data-metric='{metric}'] polyline").evaluate_all(
        "lines => lines.map(line => line.points.length)"
    )
    return found


def test_figures_and_curves_appear_and_move_in_every_tab(live: LivePage, tab: Page, open_page: Open) -> None:
    second = open_page(live)
    for update in (704, 708):
        newest = metrics("proxy", update)
        live.write(newest, "proxy")
        for each in (tab, second):
            proxy = card(each, "proxy")
            expect(proxy).to_contain_text(f"update {update}, 17.")
            expect(proxy.locator("dd[data-metric='train/entropy']")).to_have_text(f"{newest['train/entropy']:.4g} nats")
            speed = f"{newest['steps_per_second']:,.0f} steps/s"
            expect(proxy.locator("dd[data-metric='steps_per_second']")).to_have_text(speed)
            expect(proxy.locator("dd[data-metric='train/mean_episode_length']")).to_have_text("512 steps")
            expect(proxy).to_contain_text("min ")
            expect(proxy.get_by_role("progressbar")).to_have_attribute("value", str(newest["timesteps"]))
            chance = f"up {100 * newest['train/action_prob_0']:.0f} %"
            expect(proxy.get_by_role("img", name=f"Action probabilities: {chance}")).to_be_visible()
    second.close()
    assert len(points(tab, "train/entropy")) == 4
    assert min(points(tab, "train/entropy")) >= 75
    tab.locator("figure[data-metric='train/entropy'] .plot").hover()
    expect(tab.locator("figure[data-metric='train/entropy'] .read")).to_contain_text("proxy 1.")


def test_the_page_says_when_nobody_answers_and_goes_on_when_somebody_does(
    live: LivePage, tab: Page, context: BrowserContext, complaints: list[str]
) -> None:
    expect(tab.get_by_role("button")).to_be_visible()
    expect(tab.get_by_role("alert")).to_be_hidden()
    context.set_offline(True)
    expect(tab.get_by_role("alert")).to_contain_text("Disconnected")
    expect(tab.get_by_role("button")).to_be_hidden()
    live.write(metrics("proxy", 800), "proxy")
    context.set_offline(False)
    expect(tab.get_by_role("alert")).to_be_hidden()
    expect(card(tab, "proxy")).to_contain_text("update 800,")
    complaints.clear()  # of the time without an answer


def test_it_fits_a_phone_and_is_readable_in_light_and_dark(live: LivePage, tab: Page) -> None:
    live.finish("proxy_mortal", "failed", "Its process ended with exit code 1.")
    live.finish("ground_truth_blinded", "finished", "Saved <b>models/ppo_ground_truth_blinded.pth</b>.")
    tab.set_viewport_size({"width": 360, "height": 740})
    expect(card(tab, "proxy_mortal").locator(".state")).to_have_text("failed")
    expect(card(tab, "proxy_mortal")).to_contain_text("Its process ended with exit code 1.")
    expect(card(tab, "ground_truth_blinded")).to_contain_text("Saved <b>models")
    expect(tab.get_by_role("status")).to_contain_text("Training 2 of 4 runs")
    expect(tab.get_by_role("status")).to_contain_text("1 of 4 runs failed")
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360
    for scheme in ("light", "dark"):
        tab.emulate_media(color_scheme=scheme)
        found: Any = Axe().run(tab, options={"runOnly": ["color-contrast"]}).response
        assert len(found["passes"][0]["nodes"]) > 40
        assert found["violations"] == [], scheme


def test_a_slow_answer_is_shown_and_the_button_asks_and_stops_and_the_page_says_how_it_ended(
    open_page: Open, complaints: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Training takes all cores, so an answer may be slow: a newer question must not make the page forget it."""
    quick, delays = LivePage.answer, [0.6]

    def answer_late(live: LivePage, shown: int) -> Any:  # noqa: ANN401 - as the answer
        time.sleep(delays[-1])
        return quick(live, shown)

    monkeypatch.setattr(LivePage, "answer", answer_late)
    with started(["proxy"], poll_seconds=0.15) as live:
        tab = open_page(live)
        status, stop = tab.get_by_role("status"), tab.get_by_role("button", name="Stop Training")
        expect(status).to_have_text("Waiting for the first update")
        live.write(metrics("proxy", 12), "proxy")
        expect(card(tab, "proxy")).to_contain_text("update 12,")
        delays.append(0.0)
        asked: list[str] = []

        def dismiss(dialog: Dialog) -> None:
            asked.append(dialog.message)
            dialog.dismiss()

        tab.once("dialog", dismiss)
        stop.click()
        time.sleep(0.2)
        assert asked == ["Stop training now? Every run ends its current update and saves what it has learnt."]
        assert not is_stopping(live)
        tab.once("dialog", lambda dialog: dialog.accept())
        stop.click()
        expect(status).to_contain_text("Stopping")
        assert is_stopping(live)
        expect(stop).to_be_disabled()
        live.finish("proxy", "stopped", "Saved models/ppo_proxy.pth.")
    expect(status).to_have_text("Stopped")
    expect(card(tab, "proxy").locator(".state")).to_have_text("stopped")
    expect(tab.get_by_role("alert")).to_contain_text("Training is over")
    tab.close()
    complaints.clear()  # of the server that is gone
