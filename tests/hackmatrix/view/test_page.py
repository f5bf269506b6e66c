"""The page of an agent opens from the disk and shows a board, in headless Chromium."""

from pathlib import Path

from playwright.sync_api import Browser, expect

from hackmatrix.cli.main import main


def test_the_page_of_an_agent_opens_at_a_step_of_a_game(
    swift_built: None, params: Path, tmp_path: Path, browser: Browser
) -> None:
    path = tmp_path / "page.html"
    assert main(["view", str(params), "--output", str(path), "--episodes", "3", "--max-steps", "12"]) == 0
    complaints: list[str] = []
    page = browser.new_page()
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(path.as_uri())
    expect(page.get_by_role("heading", name="Where games end")).to_be_visible()
    page.goto(path.as_uri() + "#episode=1&step=5")
    expect(page.get_by_text("step 5 of 12")).to_be_visible()
    expect(page.get_by_role("heading", name="seed 1")).to_be_visible()
    expect(page.get_by_text("EXIT").first).to_be_visible()
    page.close()
    assert complaints == []
