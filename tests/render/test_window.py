"""A window on a display that SDL only pretends to have."""

import pygame
import pytest

from hackmatrix.render import BoardModel
from hackmatrix.render.picture import HEIGHT, WIDTH, draw_surface
from hackmatrix.render.window import Window
from parity.errors import ParityError

FAST = 1000


@pytest.fixture(autouse=True)
def pretended_display(monkeypatch: pytest.MonkeyPatch) -> None:
    pygame.display.quit()
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


def test_a_window_opens_with_the_first_board_and_shows_it(crowded: BoardModel) -> None:
    with Window(fps=FAST) as window:
        before = window.is_open, pygame.display.get_init()
        window.show(crowded)
        assert (before, window.is_open) == ((False, False), True)
        screen = pygame.display.get_surface()
        assert screen is not None
        assert screen.get_size() == (WIDTH, HEIGHT)
        assert pygame.image.tobytes(screen, "RGB") == pygame.image.tobytes(draw_surface(crowded), "RGB")


def test_a_surface_is_shown_as_it_is(crowded: BoardModel) -> None:
    with Window(fps=FAST) as window:
        window.show(draw_surface(crowded))
        assert window.is_open


def test_a_person_may_close_it_and_it_stays_closed(crowded: BoardModel) -> None:
    window = Window(fps=FAST)
    window.show(crowded)
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    window.show(crowded)
    assert not window.is_open
    window.show(crowded)
    assert not window.is_open
    assert not pygame.display.get_init()


def test_closing_is_seen_without_another_board(crowded: BoardModel) -> None:
    window = Window(fps=FAST)
    window.show(crowded)
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    assert not window.is_open


def test_closing_twice_or_before_the_first_board_is_allowed(crowded: BoardModel) -> None:
    window = Window(fps=FAST)
    window.close()
    window.close()
    window.show(crowded)
    assert not window.is_open


def test_a_display_that_somebody_else_closed_counts_as_closed(crowded: BoardModel) -> None:
    window = Window(fps=FAST)
    window.show(crowded)
    pygame.quit()
    window.show(crowded)
    assert not window.is_open


def test_boards_follow_one_another_at_the_rate_asked_for(crowded: BoardModel) -> None:
    picture = draw_surface(crowded)
    with Window(fps=20) as window:
        window.show(picture)
        before = pygame.time.get_ticks()
        window.show(picture)
        window.show(picture)
        assert pygame.time.get_ticks() - before >= 90


def test_no_display_is_one_sentence(monkeypatch: pytest.MonkeyPatch, crowded: BoardModel) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "no such driver")
    with pytest.raises(ParityError, match=r"^There is no display to open a window on: [^.]*\.$"):
        Window(fps=FAST).show(crowded)


def test_without_a_display_the_log_says_so_and_play_goes_on(
    monkeypatch: pytest.MonkeyPatch, crowded: BoardModel, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv("SDL_VIDEODRIVER")
    monkeypatch.setattr(pygame.display, "get_driver", lambda: "offscreen")
    monkeypatch.setattr(pygame.display, "init", lambda: None)
    monkeypatch.setattr(pygame.display, "set_mode", pygame.Surface)
    monkeypatch.setattr(pygame.display, "flip", lambda: None)
    Window(fps=FAST).show(crowded)
    assert [record.message for record in caplog.records] == [
        "There is no display to open a window on: run on a desktop, or draw text or pictures instead."
    ]
