"""The page in a browser, opened from the disk."""

import re
from dataclasses import replace
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from rlparity import Board
from rlparity.io.table import Records
from rlparity.viewer.page import Curve, End, PageDecision, PageEpisode, PageStep
from rlparity.viewer.page import Page as Content

from . import games
from .conftest import Open
from .games import CURVES, LENGTH, WORLD


def rows_of(table: Locator) -> list[list[str]]:
    """The texts of a table's body, as they are read aloud, without the rows' own heads."""
    found: list[list[str]] = table.evaluate(
        "table => [...table.tBodies[0].rows].map(row => [...row.querySelectorAll('td')].map(cell => cell.textContent))"
    )
    return found


def board(page: Page, side: int = 0) -> list[list[str]]:
    return rows_of(page.locator("#sides .board").nth(side))


def numbers(page: Page) -> list[str]:
    """The numbers of the episodes in the list."""
    return page.locator("#episodes tbody td:first-child").all_text_contents()


def chosen(page: Page, said: str) -> Locator:
    return page.get_by_role("button", name=said, exact=True)


def test_every_step_is_reached_by_keys_buttons_the_slider_and_the_timeline_and_played(open_page: Open) -> None:
    page = open_page(games.page(1), WORLD)
    where = page.locator("#where")
    expect(page.locator("#views")).to_be_hidden()
    game = list(games.steps(0))
    expect(page.get_by_role("heading", name="seed 0")).to_be_visible()
    for key, number in (("Home", 0), ("ArrowRight", 1), ("ArrowRight", 2), ("End", LENGTH), ("ArrowRight", LENGTH)):
        page.keyboard.press(key)
        expect(where).to_have_text(f"step {number} of {LENGTH}")
        assert board(page) == [list(row) for row in game[number].boards[0].rows]
        values = rows_of(page.locator("#sides .values"))
        assert values == [[str(value)] for value in game[number].boards[0].scalars.values()]
        expect(page.locator("#sentence")).to_contain_text(f"After {game[number].action}" if number else "The start.")
    page.keyboard.press("ArrowLeft")
    expect(where).to_have_text(f"step {LENGTH - 1} of {LENGTH}")
    page.keyboard.press("e")
    expect(where).to_have_text(f"step {LENGTH - 10} of {LENGTH}")
    page.keyboard.press("Home")

    expect(page.get_by_role("button", name="Step back")).to_be_disabled()
    for name, number in (("Step forth", 1), ("Last step", LENGTH), ("Step back", LENGTH - 1), ("First step", 0)):
        page.get_by_role("button", name=name).click()
        expect(where).to_have_text(f"step {number} of {LENGTH}")
    for chart, number in ((0, 9), (1, 4)):
        plot = page.locator("#charts svg").nth(chart)
        box = plot.bounding_box()
        assert box is not None
        plot.click(position={"x": box["width"] * (number + 0.5) / (LENGTH + 1), "y": 20})
        expect(where).to_have_text(f"step {number} of {LENGTH}")
    page.get_by_role("slider").fill("5")
    expect(where).to_have_text(f"step 5 of {LENGTH}")
    page.get_by_role("combobox", name="Speed").select_option("20")
    page.locator("h1").click()
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(where).to_have_text(f"step {LENGTH} of {LENGTH}")
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    page.keyboard.press("Space")
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Play")).to_be_visible()


def test_a_step_says_what_was_done_how_likely_it_was_what_it_earned_and_what_signs_mean(open_page: Open) -> None:
    page = open_page(games.page(1), WORLD, "#episode=0&step=6")
    step = list(games.steps(0))[6]
    assert step.decision is not None
    assert step.components is not None
    reward = f"{sum(step.components[0]) / 1000:+.3g}".replace("-", "−")
    sentence = f"After {step.action}, earned {reward}, probability 75.0 %, reward still expected 0.625."
    expect(page.locator("#sentence")).to_have_text(sentence)
    taken = page.locator("#probabilities tr.taken")
    expect(taken.locator("th")).to_have_text(f"▸{step.action}, taken")
    expect(taken.locator("td").last).to_have_text("75.0 %")
    expect(page.locator("#probabilities tbody tr")).to_have_count(len(step.decision.probabilities))
    steps_earned = sum(sum(step.components[0][:1]) for step in list(games.steps(0))[:7] if step.components)
    shown = page.locator("#components tbody tr").first.locator("td").all_text_contents()
    assert shown == ["−10", f"−{-steps_earned}"]
    # The charts tell in words what they show.
    rewards = page.get_by_role("img", name="Rewards by component")
    assert f"over {LENGTH} steps" in (rewards.get_attribute("aria-label") or "")
    bars = page.locator("#charts .bar")
    earned = [step.components[0] for step in games.steps(0) if step.components]
    expect(bars).to_have_count(sum(bool(part) for parts in earned for part in parts))
    assert bars.locator("title").all_text_contents()[0].startswith("step 1: step −0.01")
    expect(page.get_by_role("img", name="What the agent expected to earn, from 0 before the first")).to_be_visible()

    legend = page.get_by_text("Signs on the board")
    meanings = page.get_by_role("definition")
    expect(meanings.first).to_be_hidden()
    legend.focus()
    page.keyboard.press("Space")
    expect(meanings).to_have_text(["walker", "wasp", "apple, two days ripe"])
    signs = page.get_by_role("term")
    expect(signs).to_have_text(["W", "w", "●●"])
    colour = "element => getComputedStyle(element).color"
    words = page.locator("#sides .board .word")
    for place, (word, wanted) in enumerate((("W", "rgb(94, 224, 214)"), ("w", "rgb(246, 160, 78)"))):
        assert words.filter(has_text=re.compile(f"^{word}$")).evaluate(colour) == wanted
        assert signs.nth(place).locator(".word").evaluate(colour) == wanted
    expect(page.get_by_role("button", name="Play")).to_be_visible()  # space opened the legend and nothing else
    page.keyboard.press("ArrowRight")
    expect(page.locator("#where")).to_have_text(f"step 7 of {LENGTH}")
    expect(meanings.first).to_be_visible()


def test_a_link_opens_its_step_or_what_is_nearest_and_the_address_follows(open_page: Open) -> None:
    page = open_page(games.page(4), WORLD, "#nothing")
    overview = page.get_by_role("heading", name="Episodes")
    expect(overview).to_be_visible()
    for fragment, place in (
        ("#episode=99&step=999", f"step {LENGTH + 3} of {LENGTH + 3}"),
        ("#episode=1", f"step 0 of {LENGTH + 1}"),
        ("#episode=0&step=-3", f"step 0 of {LENGTH}"),
    ):
        page.evaluate("fragment => { location.hash = fragment; }", fragment)
        expect(page.locator("#where")).to_have_text(place)
    page.evaluate("location.hash = '#episode=x&step=1'")
    expect(overview).to_be_visible()
    page.evaluate("location.hash = '#episode=2&step=5'")
    expect(page.get_by_role("heading", name="seed 2")).to_be_visible()
    expect(page.locator("#where")).to_have_text(f"step 5 of {LENGTH + 2}")
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**#episode=2&step=6")
    page.reload()
    expect(page.locator("#where")).to_have_text(f"step 6 of {LENGTH + 2}")
    page.keyboard.press("n")
    page.wait_for_url("**#episode=3&step=0")
    expect(page.get_by_role("heading", name="seed 3")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="seed 2")).to_be_visible()
    page.get_by_role("link", name="Overview").click()
    expect(overview).to_be_visible()


def test_two_sides_open_where_they_part_and_mark_what_differs(open_page: Open) -> None:
    page = open_page(games.divergence(), WORLD)
    expect(page.locator("#where")).to_have_text("step 3 of 3")
    for name in ("plain (expected)", "other (observed)"):
        expect(page.get_by_role("heading", name=name)).to_be_visible()
    assert rows_of(page.locator("#differences-found table"))[1] == ["0", "-500"]
    for side in range(2):
        marked = page.locator("#sides .side").nth(side).locator("td.differs")
        expect(marked).to_have_count(2)
        assert board(page, side)[1][2].startswith("differs: ")
    assert board(page, 1)[1][2] == "differs: w ●"
    expect(page.locator("#sides .side").nth(1)).to_contain_text("differs: 99")
    expect(page.locator("#sides .side").nth(1)).to_contain_text("Marks fired: move, sting")
    assert rows_of(page.locator("#components table"))[-1] == ["differs: 0", "differs: −500"]
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#differences")).to_contain_text("No difference at this step.")
    expect(page.locator("#sides .differs")).to_have_count(0)


TABLE = Records("n", "What <b> differs", ("family", "first in"), [["rewards:sting", "seed 7"]], "Not found: x.")


def test_tables_stand_in_the_overview_and_what_is_expected_is_not_marked_as_bad(open_page: Open) -> None:
    parted = games.divergence()
    (told,) = parted.episodes
    page = open_page(replace(parted, episodes=(told, replace(told, is_expected=True)), tables=(TABLE,)), WORLD)
    section = page.locator("#tables section")
    expect(section.get_by_role("heading")).to_have_text("What <b> differs")
    assert rows_of(section.locator("table")) == [["seed 7"]]
    expect(section).to_contain_text("Not found: x.")
    colour = "cell => getComputedStyle(cell).color"
    bad, calm = (cell.evaluate(colour) for cell in page.locator("#episodes td:last-child").all())
    assert bad != calm == page.locator("h1").evaluate(colour)
    for link, wanted in ((0, bad), (1, calm)):
        page.locator("#episodes th a").nth(link).click()
        expect(page.locator("#where")).to_have_text("step 3 of 3")
        expect(page.locator("#differences-found td").first).to_have_css("color", wanted)
        page.get_by_role("link", name="Overview").click()


def test_stage_cause_and_cell_choose_the_episodes(open_page: Open) -> None:
    page = open_page(games.page(12), WORLD)
    ends = page.locator("#ends-table")
    assert ends.locator("tbody th").all_text_contents() == ["stage 1", "stage 2", "stage 10", "all"]
    assert ends.locator("thead th").all_text_contents() == ["ended in", "games", "wasp", "step limit", "two wasps"]
    assert rows_of(ends.locator("table")) == [
        ["4", "4", "–", "–"],
        ["4", "2", "–", "2"],
        ["2", "–", "2", "–"],
        ["10", "6", "2", "2"],
    ]
    assert rows_of(page.locator("#ends-map table"))[0] == ["", "6", "", ""]

    chosen(page, "stage 2: 4 games").click()
    assert numbers(page) == ["2", "3", "8", "9"]
    expect(page.get_by_role("status")).to_have_text("4 of 12 episodes")
    assert rows_of(page.locator("#ends-map table"))[0] == ["", "4", "", ""]
    chosen(page, "stage 2, wasp: 2 games").click()
    assert numbers(page) == ["2", "8"]
    page.get_by_role("button", name="stage 2: choose any again").click()
    assert numbers(page) == ["0", "1", "2", "6", "7", "8"]
    chosen(page, "row A, column 3: 2 games").click()
    assert numbers(page) == ["1", "7"]
    assert rows_of(ends.locator("table"))[-1] == ["2", "2", "–", "–"]
    chosen(page, "row A, column 3: 2 games").click()
    chosen(page, "wasp: 6 games").click()
    assert len(numbers(page)) == 12
    chosen(page, "stage 2, wasp: 2 games").focus()
    page.keyboard.press("Enter")
    assert numbers(page) == ["2", "8"]
    expect(chosen(page, "stage 2, wasp: 2 games")).to_be_focused()
    expect(chosen(page, "stage 2, wasp: 2 games")).to_have_attribute("aria-pressed", "true")


def test_the_list_is_searched_and_sorted_and_leads_to_episodes_and_deaths(open_page: Open) -> None:
    page = open_page(games.page(6), WORLD)
    page.get_by_role("searchbox").fill("WASP")
    assert numbers(page) == ["0", "1", "2", "3"]
    steps = page.get_by_role("button", name="steps")
    steps.click()
    steps.click()
    assert numbers(page) == ["3", "2", "1", "0"]
    expect(page.locator("th", has=steps)).to_have_attribute("aria-sort", "descending")
    page.get_by_role("link", name="seed 2", exact=True).click()
    expect(page.get_by_role("heading", name="seed 2")).to_be_visible()
    page.keyboard.press("n")
    expect(page.get_by_role("heading", name="seed 1")).to_be_visible()
    page.get_by_role("button", name="Previous").click()
    expect(page.get_by_role("heading", name="seed 2")).to_be_visible()
    page.get_by_role("link", name="Overview").click()
    page.get_by_role("searchbox").fill("")
    page.get_by_role("button", name="return").click()
    earned = [sum(sum(step.components[0]) for step in games.episode(k).steps if step.components) for k in range(6)]
    assert numbers(page) == [str(number) for number in sorted(range(6), key=lambda number: earned[number])]
    page.get_by_role("link", name="two wasps, stage 2, row D, column 1: ten steps before the end").click()
    expect(page.get_by_role("heading", name="seed 3")).to_be_visible()
    expect(page.locator("#where")).to_have_text(f"step {LENGTH + 3 - 10} of {LENGTH + 3}")


def test_a_curve_is_read_at_the_pointer_and_in_words_and_all_but_four_are_folded_away(open_page: Open) -> None:
    curves = tuple(Curve(name, (0, 1), (0.0, 1.0)) for name in "abcde")
    page = open_page(games.page(1, CURVES + curves), WORLD)
    curve = page.locator("figure.multiple", has_text="return")
    read = curve.locator("output")
    expect(read).to_have_text("4 at 3K")
    plot = curve.get_by_role("img", name="return: −1.5 at step 0, 4 at step 3,000; lowest −1.5, highest 4.")
    box = plot.bounding_box()
    assert box is not None
    plot.hover(position={"x": box["width"] * 0.3, "y": 10})
    expect(read).to_have_text("0.25 at 1K")
    plot.hover(position={"x": box["width"] * 0.66, "y": 10})  # not at 2000, which has no value
    expect(read).to_have_text("0.25 at 1K")
    page.locator("h1").hover()
    expect(read).to_have_text("4 at 3K")
    drawn = page.locator("figure.multiple")
    assert [drawn.nth(place).is_visible() for place in range(7)] == [True] * 4 + [False] * 3
    page.get_by_text("3 more curves").focus()
    page.keyboard.press("Enter")
    assert all(drawn.nth(place).is_visible() for place in range(7))
    expect(drawn.last.locator("output")).to_have_text("1 at 1")


def test_numbers_keep_all_digits_and_none_breaks_the_page(open_page: Open) -> None:
    large, odd = 2**60 + 1, float("nan")
    components = ((large, odd, float("-inf")),)
    boards = (Board((("x",),), {"word": 2**64 - 1, "share": 0.1}),)
    decision = PageDecision({"up": odd, "down": 0.5}, float("inf"))
    shown = (PageStep("start", boards), PageStep("up", boards, components, decision))
    curve = Curve("loss", (0, 1), (odd, odd))
    content = Content("Odd numbers", ("one",), (PageEpisode("odd", "", shown),), curves=(curve,))
    page = open_page(content, WORLD, "#episode=0&step=1")
    texts = [row[0] for row in rows_of(page.locator("#components table"))]
    assert texts == [str(large), "NaN", "−Infinity"]
    assert rows_of(page.locator("#sides .values")) == [[str(2**64 - 1)], ["0.1"]]
    expect(page.locator("#probabilities")).to_contain_text("NaN")
    page.get_by_role("link", name="Overview").click()
    expect(page.get_by_role("img", name="loss: no values.")).to_be_attached()


EVIL = "</script><img src=x onerror='window.hacked = 1'><script>window.hacked = 1</script>"


def test_nothing_in_the_data_can_act(open_page: Open) -> None:
    boards = (Board(((f"{EVIL} __proto__ constructor",),), {EVIL: EVIL, "__proto__": "p"}),)
    shown = (PageStep("start", boards), PageStep(EVIL, boards, ((1, 2, 3),), PageDecision({EVIL: 1.0}, 1.0)))
    end = End(EVIL, EVIL, 0, 0)
    content = Content(
        EVIL, (EVIL,), (PageEpisode(EVIL, EVIL, shown, end),) * 2, (EVIL,), EVIL, (Curve(EVIL, (0, 1), (0.0, 1.0)),)
    )
    page = open_page(
        content, replace(WORLD, name=EVIL, components=(EVIL, "b", "c"), row_names=(EVIL,), signs={EVIL: EVIL})
    )
    expect(page.locator("h1")).to_have_text(EVIL)
    page.get_by_role("link", name=EVIL, exact=True).last.click()
    expect(page.locator("#sentence")).to_have_text("The start.")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#sentence")).to_contain_text(EVIL)
    assert page.locator("img[src], main script, #sides script").count() == 0
    assert page.evaluate("window.hacked") is None


def test_no_request_is_allowed_at_all(open_page: Open, complaints: list[str]) -> None:
    page = open_page(games.page(1), WORLD)
    asked = "address => fetch(address).then(() => 'answered', error => error.name)"
    for address in ("https://example.org/", "data:,x", page.url):
        assert page.evaluate(asked, address) == "TypeError"
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<p onclick=\"window.hacked = 1\" id=evil>x</p>')")
    page.locator("#evil").click()
    assert page.evaluate("window.hacked") is None
    assert complaints
    assert all("Content Security Policy" in complaint for complaint in complaints)
    complaints.clear()


def large_board(step: int) -> Board:
    """As large as those that Goodharts draws, with long values."""
    rows = (
        tuple("@" if row == column == 8 else "ox."[(row * column + step) % 3] for column in range(17))
        for row in range(17)
    )
    return Board(tuple(rows), {"programs": "WORD " * 30, "key": "0" * 80})


def faults(page: Page, *rules: str) -> list[tuple[str, list[str]]]:
    """Violations of axe's rules, of all or of some."""
    found: dict[str, Any] = Axe().run(page, options={"runOnly": list(rules)} if rules else None).response
    assert len(found["passes"]) >= (len(rules) or 15)
    return [(fault["id"], [node["html"] for node in fault["nodes"]]) for fault in found["violations"]]


@pytest.mark.parametrize("name", ["overview", "divergence"])
def test_it_is_accessible_in_light_and_dark_and_fits_a_phone(open_page: Open, name: str) -> None:
    overview = replace(games.page(6, CURVES * 3), tables=(TABLE,))
    page = open_page(overview if name == "overview" else games.divergence(), WORLD)
    if name == "overview":
        chosen(page, "stage 1, wasp: 2 games").click()
        page.get_by_text("2 more curves").click()
    else:
        page.get_by_text("Signs on the board").click()
    page.emulate_media(color_scheme="light")
    assert faults(page) == []
    page.emulate_media(color_scheme="dark")
    assert faults(page, "color-contrast") == []  # all that a scheme changes
    assert_fits_a_phone(page)


def assert_fits_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


BARE: dict[str, tuple[PageStep, ...]] = {
    "empty board": (PageStep("start", (Board((), {}),)),),
    "one step": (PageStep("start", (Board((("a", ""), ("b",)), {}),)),),
    "new form": (PageStep("start", (Board((("a",),), {"n": 1}),)), PageStep("up", (Board((("a", "b"),), {"m": 2}),))),
    "earns nothing": (PageStep("start", (large_board(0),)), PageStep("up", (large_board(1),), ((0, 0, 0),))),
}


@pytest.mark.parametrize(
    "content",
    [
        Content("Nothing", ("one",), ()),
        Content("Curves only", ("one",), (), curves=CURVES),
        Content("Bare", ("one",), tuple(PageEpisode(name, "", steps) for name, steps in BARE.items())),
    ],
    ids=["nothing", "curves", "bare episodes"],
)
def test_what_is_not_there_leaves_no_trace_and_a_large_board_fits_a_phone(open_page: Open, content: Content) -> None:
    page = open_page(content, replace(WORLD, signs={}))
    expect(page.locator("h1")).to_have_text(content.headline)
    expect(page.locator("#views")).to_be_visible(visible=bool(content.episodes))
    absent = page.locator("#ends, #decision, #rewards, #differences, #more-curves")
    is_hidden = "all => all.every(each => !each.checkVisibility())"
    assert absent.evaluate_all(is_hidden)
    for number, (name, steps) in enumerate(BARE.items() if content.episodes else ()):
        page.evaluate("fragment => { location.hash = fragment; }", f"#episode={number}")
        expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()
        page.keyboard.press("End")
        width = max((len(row) for row in steps[-1].boards[0].rows), default=0)
        assert board(page) == [[*row, *[""] * (width - len(row))] for row in steps[-1].boards[0].rows]
        assert absent.evaluate_all(is_hidden)
    expect(page.get_by_text("Signs on the board")).to_be_hidden()
    assert_fits_a_phone(page)
