"""The site in a browser: pictures, short pages with links to their neighbours, and no fault for axe."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from mkdocs.commands.build import build
from mkdocs.config import load_config
from playwright.sync_api import Browser, Page

from rlparity import __version__

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("", "commands/hackmatrix-train", "notebooks/debug_a_reward")
DESKTOP, PHONE = 1280, 390


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, but for what mkdocstrings fills in, which takes most of the time."""
    folder = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_MKDOCS_2_WARNING", "1")
        build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder), plugins=[]))
    return folder


@pytest.fixture(params=[("light", DESKTOP), ("dark", PHONE)], ids=["light-desktop", "dark-phone"])
def page(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Page]:
    scheme, width = request.param
    page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 900})
    yield page
    page.close()


def test_every_command_and_module_has_a_page_and_every_page_its_version_and_its_neighbours(site: Path) -> None:
    pages = {str(path.parent.relative_to(site)): path.read_text() for path in site.rglob("index.html")}
    assert {"commands/rlparity-ledger-add", "commands/hackmatrix-train", "commands/goodharts-train"} < set(pages)
    assert {"api/rlworldkit.api", "api/rlparity", "api/rlparity.adapters", "api/hackmatrix.gym_env"} < set(pages)
    assert {"ports", "ports/minigrid_navix", "ports/taxi"} < set(pages)
    assert 'href="minigrid_navix/"' in pages["ports"]
    assert 'href="../../ports/taxi/"' in pages["how-to/port-gymnasium"]
    for name, text in pages.items():
        assert f"HackMatrix {__version__}" in text, name
        neighbours = {side for side in ("prev", "next") if f"md-footer__link--{side}" in text}
        assert neighbours == (
            {"next"} if name == "." else {"prev"} if name == "explanation/results" else {"prev", "next"}
        )


def test_a_notebook_is_a_page_with_all_its_cells_and_a_file(site: Path) -> None:
    for notebook in (ROOT / "examples").glob("*.ipynb"):
        text = (site / "notebooks" / notebook.stem / "index.html").read_text()
        assert text.count('<div class="highlight">') == notebook.read_text().count('"cell_type": "code"')
        assert (site / "notebooks" / notebook.name).read_bytes() == notebook.read_bytes()
        tutorial = (site / "tutorials" / notebook.stem.replace("_", "-") / "index.html").read_text()
        assert f'href="../../notebooks/{notebook.stem}/"' in tutorial


def test_pages_are_short_fit_the_screen_and_can_be_read_by_everybody(site: Path, page: Page) -> None:
    for name in PAGES:
        page.goto((site / name / "index.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0
        assert page.evaluate("document.documentElement.scrollHeight") < 12_000
        # the theme writes its landmarks
        faults = [fault for fault in Axe().run(page).response["violations"] if fault["id"] != "landmark-unique"]
        assert [(fault["id"], fault["nodes"][0]["html"]) for fault in faults] == [], name
