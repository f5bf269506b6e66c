"""The page in a browser: headless Chromium, driven by Playwright."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Dialog, Locator, Page, expect

from goodharts.dashboard import Dashboard
from goodharts.dashboard.page import duration
from goodharts.dashboard.progress import POINTS

from .client import Client
from .demo import DEFAULT_MODES, row, rows

PATIENCE = 60_000
"""Milliseconds to wait for what should be there within a second: other tests may have the cores."""

# The contrast (WCAG 2) of each text and each mode's line to what is behind it, as "what it is": ratio.
CONTRASTS = """() => {
    const pen = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
    const rgba = colour => {
        pen.clearRect(0, 0, 1, 1);
        pen.fillStyle = colour;
        pen.fillRect(0, 0, 1, 1);
        return [...pen.getImageData(0, 0, 1, 1).data];
    };
    const behind = element => {
        for (let at = element; at; at = at.parentElement) {
            const colour = rgba(getComputedStyle(at).backgroundColor);
            if (colour[3] === 255) return colour;
        }
        return [255, 255, 255, 255];
    };
    const luminance = colour => colour.slice(0, 3)
        .map(value => value / 255)
        .map(value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
        .reduce((sum, value, index) => sum + value * [0.2126, 0.7152, 0.0722][index], 0);
    const contrast = (front, back) => {
        const [low, high] = [luminance(rgba(front)), luminance(back)].sort((a, b) => a - b);
        return (high + 0.05) / (low + 0.05);
    };
    const found = {texts: {}, lines: {}};
    for (const element of document.querySelectorAll("#page *")) {
        const text = [...element.childNodes].filter(node => node.nodeType === 3 && node.data.trim());
        if (!text.length || !element.getClientRects().length) continue;
        const style = getComputedStyle(element);
        const front = element.closest("svg") ? style.fill : style.color;
        found.texts[element.textContent] = contrast(front, behind(element));
    }
    for (const element of document.querySelectorAll(".mode")) {
        const front = getComputedStyle(element).getPropertyValue("--mode");
        found.lines[element.querySelector("h2").textContent] = contrast(front, behind(element));
    }
    return found;
}"""


@pytest.fixture(scope="module")
def context(browser: Browser) -> BrowserContext:
    expect.set_options(timeout=PATIENCE)
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    return context


@pytest.fixture(scope="module")
def complaints() -> list[str]:
    """Errors and warnings on the browser's console, and requests of the dashboard's pages to other hosts."""
    return []


@pytest.fixture(autouse=True)
def nothing_complains(complaints: list[str]) -> Iterator[None]:
    yield
    assert complaints == []


Open = Callable[[Dashboard], Page]


@pytest.fixture(scope="module")
def open_page(context: BrowserContext, complaints: list[str]) -> Open:
    """Open the page of a dashboard in another tab, whose console and requests are watched."""

    def note(is_wrong: bool, what: str) -> None:
        if is_wrong:
            complaints.append(what)

    def open_page(dashboard: Dashboard) -> Page:
        own = urlsplit(dashboard.url).netloc, ""  # data: has no host
        page = context.new_page()
        page.on("console", lambda message: note(message.type in ("error", "warning"), message.text))
        page.on("pageerror", lambda error: note(True, str(error)))
        page.on("request", lambda request: note(urlsplit(request.url).netloc not in own, request.url))
        page.goto(dashboard.url)
        return page

    return open_page


@contextmanager
def started(modes: Sequence[str]) -> Iterator[Dashboard]:
    dashboard = Dashboard(modes, port=0, poll_seconds=0.5)
    dashboard.start()
    yield dashboard
    dashboard.close()


@pytest.fixture(scope="module")
def dashboard() -> Iterator[Dashboard]:
    """One of four modes in the midst of their training."""
    with started(DEFAULT_MODES) as dashboard:
        for found in rows(1000, until=700):
            dashboard.update(found)
        yield dashboard


@pytest.fixture(scope="module")
def page(dashboard: Dashboard, open_page: Open) -> Iterator[Page]:
    page = open_page(dashboard)
    yield page
    dashboard.close()


def card(page: Page, mode: str) -> Locator:
    return page.get_by_role("article", name=mode, exact=True)


def points(page: Page, chart: str) -> list[int]:
    """Count the points of the lines of a chart that is drawn."""
    expect(page.locator(f"#chart-{chart} .scatterlayer .trace")).to_have_count(4)
    found: list[int] = page.evaluate(
        "id => document.querySelector(`#${id} .js-plotly-plot`).data.map(line => line.x.length)", f"chart-{chart}"
    )
    return found


def test_numbers_appear_and_move(dashboard: Dashboard, page: Page) -> None:
    proxy = card(page, "proxy")
    for update in (704, 708):
        newest = row("proxy", update, 1000)
        dashboard.update(newest)
        expect(proxy).to_contain_text(f"update {update} of 1,000")
        for key, form in (("policy_loss", ".4f"), ("value_loss", ".4f"), ("entropy", ".3f"), ("episode_reward", ".2f")):
            expect(proxy.locator(f"dd.{key}")).to_contain_text(format(newest[key], form).replace("-", "−"))
        expect(proxy.locator("dd.steps_per_second")).to_have_text(f"{newest['steps_per_second']:,.0f} steps/s")
        expect(proxy.locator("dd.episode_length")).to_have_text("512.0 steps")
        expect(proxy).to_contain_text(f"{duration(newest['seconds_left'])} left")
        expect(proxy.get_by_role("progressbar")).to_have_attribute("value", str(update))
        chance = f"up left {100 * newest['action_prob_0']:.0f} %"
        expect(proxy.get_by_role("img", name=f"Action probabilities: {chance}")).to_be_visible()
    before = points(page, "entropy")[-1]
    for update in range(709, 709 + 16):
        dashboard.update(row("proxy", update, 1000))
    expect(proxy).to_contain_text("update 724 of 1,000")
    assert points(page, "entropy")[-1] == before + 2  # of eight updates each


def test_a_second_tab_shows_the_whole_run(dashboard: Dashboard, page: Page, open_page: Open) -> None:
    second = open_page(dashboard)
    dashboard.update(row("ground_truth", 750, 1000))
    for tab in (page, second):
        expect(card(tab, "ground_truth")).to_contain_text("update 750 of 1,000")
        expect(tab.get_by_role("article")).to_have_count(4)
    assert points(page, "entropy") == points(second, "entropy")
    assert min(points(page, "entropy")) >= POINTS
    second.close()
    dashboard.update(row("ground_truth", 751, 1000))
    expect(card(page, "ground_truth")).to_contain_text("update 751 of 1,000")


def test_the_page_says_when_nobody_answers_and_goes_on_when_somebody_does(
    dashboard: Dashboard, page: Page, context: BrowserContext, complaints: list[str]
) -> None:
    expect(page.get_by_role("button")).to_be_visible()
    expect(page.get_by_role("alert")).to_be_hidden()
    context.set_offline(True)
    expect(page.get_by_role("alert")).to_contain_text("Disconnected")
    expect(page.get_by_role("button")).to_be_hidden()
    dashboard.update(row("proxy", 800, 1000))
    context.set_offline(False)
    expect(page.get_by_role("alert")).to_be_hidden()
    expect(card(page, "proxy")).to_contain_text("update 800 of 1,000")
    complaints.clear()  # of the time without an answer


def test_it_fits_a_phone_and_is_readable_in_light_and_dark(dashboard: Dashboard, page: Page) -> None:
    dashboard.finish("proxy_mortal", "Its process ended with exit code 1.")
    dashboard.finish("ground_truth_blinded", "Saved models/ppo_ground_truth_blinded.pth.", "finished")
    page.set_viewport_size({"width": 360, "height": 740})
    expect(card(page, "proxy_mortal").locator(".state")).to_have_text("failed")
    expect(card(page, "proxy_mortal")).to_contain_text("Its process ended with exit code 1.")
    expect(page.get_by_role("status")).to_contain_text("Training 2 of 4 modes")
    expect(page.get_by_role("status")).to_contain_text("1 of 4 modes failed")
    assert len(points(page, "entropy")) == 4
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        contrasts = page.evaluate(CONTRASTS)
        assert len(contrasts["texts"]) > 60
        assert {text: ratio for text, ratio in contrasts["texts"].items() if ratio < 4.5} == {}, scheme
        assert len(contrasts["lines"]) == 4
        assert {mode: ratio for mode, ratio in contrasts["lines"].items() if ratio < 3} == {}, scheme


def test_a_slow_answer_is_shown_and_the_button_asks_and_stops_and_the_page_says_how_it_ended(
    open_page: Open, complaints: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Training takes all cores, so an answer may be slow: a newer question must not make the page forget it."""
    quick, delays = Dashboard._note_poll, [1.5]

    def note_late(dashboard: Dashboard, shown: int | None) -> None:
        time.sleep(delays[-1])
        quick(dashboard, shown)

    monkeypatch.setattr(Dashboard, "_note_poll", note_late)
    with started(["proxy"]) as dashboard:
        page = open_page(dashboard)
        status, stop = page.get_by_role("status"), page.get_by_role("button", name="Stop Training")
        expect(status).to_have_text("Waiting for the first update")
        dashboard.update(row("proxy", 12, 1000))
        expect(card(page, "proxy")).to_contain_text("update 12 of 1,000")
        delays.append(0.0)
        asked: list[str] = []

        def dismiss(dialog: Dialog) -> None:
            asked.append(dialog.message)
            dialog.dismiss()

        page.once("dialog", dismiss)
        stop.click()
        assert asked == ["Stop training now? Every mode ends its current update and saves what it has learnt."]
        assert not dashboard.stop_requested.wait(0.5)
        page.once("dialog", lambda dialog: dialog.accept())
        stop.click()
        expect(status).to_contain_text("Stopping")
        assert dashboard.stop_requested.is_set()
        expect(stop).to_be_disabled()
        dashboard.finish("proxy", "Saved models/ppo_proxy.pth.", "stopped")
    expect(status).to_have_text("Stopped")
    expect(card(page, "proxy").locator(".state")).to_have_text("stopped")
    expect(card(page, "proxy")).to_contain_text("Saved models/ppo_proxy.pth.")
    expect(page.get_by_role("alert")).to_contain_text("Training is over")
    page.close()
    complaints.clear()  # of the server that is gone


def test_a_foreign_page_that_knows_the_address_neither_frames_nor_reads_nor_stops(
    dashboard: Dashboard, context: BrowserContext
) -> None:
    foreign = context.new_page()
    foreign.route("http://localhost/", lambda route: route.fulfill(content_type="text/html", body="<h1>Foreign</h1>"))
    foreign.goto("http://localhost/")
    for mode in ("cors", "no-cors"):
        asked = foreign.evaluate(
            "([url, mode]) => fetch(url, {mode}).then(answer => answer.text()).catch(error => error.name)",
            [dashboard.url, mode],
        )
        assert asked == "TypeError"
        foreign.evaluate(
            """([url, mode, body]) => fetch(url, {method: "POST", mode, body, headers: {
                "Content-Type": mode === "cors" ? "application/json" : "text/plain",
            }}).catch(error => error.name)""",
            [f"{dashboard.url}_dash-update-component", mode, json.dumps(Client(dashboard).body("stop-confirmed"))],
        )
    foreign.evaluate(
        """url => new Promise(done => {
            const frame = document.createElement("iframe");
            frame.onload = done;
            frame.src = url;
            document.body.append(frame);
        })""",
        dashboard.url,
    )
    assert foreign.frames[1].url == "chrome-error://chromewebdata/"
    assert not dashboard.stop_requested.is_set()
    foreign.close()
