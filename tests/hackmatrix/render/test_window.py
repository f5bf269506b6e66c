"""A window on a display that SDL only pretends to have."""

import pygame
import pytest

from rlworldkit.render.window import Window

PICTURE = pygame.Surface((30, 20))
PICTURE.fill((200, 0, 0))


@pytest.fixture(autouse=True)
def pretended_display(monkeypatch: pytest.MonkeyPatch) -> None:
    pygame.display.quit()
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


def test_a_person_may_close_it_which_is_seen_at_once_and_it_stays_closed() -> None:
    for shows_again in (False, True):
        window = Window("a world", 1000)
        window.show(PICTURE)
        pygame.event.post(pygame.event.Event(pygame.QUIT))
        if shows_again:
            window.show(PICTURE)
        assert not window.is_open
    window.show(PICTURE)
    assert (window.is_open, pygame.display.get_init()) == (False, False)
