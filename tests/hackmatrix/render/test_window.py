"""A window on a display that SDL only pretends to have."""

from contextlib import closing

import pygame
import pytest

from rlparity.errors import ParityError
from rlworldkit.render.window import Window

SIZE = (30, 20)
PICTURE = pygame.Surface(SIZE)
PICTURE.fill((200, 0, 0))


def window_of(fps: float = 1000, title: str = "a world") -> Window:
    return Window(title, fps)


@pytest.fixture(autouse=True)
def pretended_display(monkeypatch: pytest.MonkeyPatch) -> None:
    pygame.display.quit()
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


def test_a_window_opens_with_the_first_picture_and_shows_it() -> None:
    with closing(window_of()) as window:
        before = window.is_open, pygame.display.get_init()
        window.show(PICTURE)
        assert (before, window.is_open) == ((False, False), True)
        screen = pygame.display.get_surface()
        assert screen is not None
        assert screen.get_size() == SIZE
        assert pygame.image.tobytes(screen, "RGB") == pygame.image.tobytes(PICTURE, "RGB")


def test_a_person_may_close_it_which_is_seen_at_once_and_it_stays_closed() -> None:
    for shows_again in (False, True):
        window = window_of()
        window.show(PICTURE)
        pygame.event.post(pygame.event.Event(pygame.QUIT))
        if shows_again:
            window.show(PICTURE)
        assert not window.is_open
    window.show(PICTURE)
    assert (window.is_open, pygame.display.get_init()) == (False, False)


def test_no_display_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "no such driver")
    with pytest.raises(ParityError, match=r"^There is no display to open a window on: [^.]*\.$"):
        window_of().show(PICTURE)
