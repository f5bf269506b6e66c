"""Picture of a frame, for windows and films: the board, at its right the decision and the rewards, and layers below."""

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rlparity import State, World
from rlworldkit.agents.agent import Agent
from rlworldkit.agents.numpy_network import Floats
from rlworldkit.render.colours import AGENT, BAD, GOOD, GROUND, MUTED, OFF, TEXT
from rlworldkit.render.display import require_display
from rlworldkit.render.film import PICTURE, film, last_picture
from rlworldkit.render.pen import Pen, pixels, pygame, surface_of
from rlworldkit.render.show import picture_of, show_of
from rlworldkit.render.window import Window
from rlworldkit.show.watch.controls import KEYS, Controls
from rlworldkit.show.watch.frames import MOST_ACTIONS, VALUE, Decision, Frame

_PANEL = 360
"""Pixels beside the board."""
_LEAST_HEIGHT = 560
_LAYERS = 240
"""Pixels below the board for the layers of an agent that has ``layers``."""
_COLUMN = 320
_LINE = 22
_TITLE, _MARGIN = 40, 12
_LARGEST = 14.0
"""Largest side of an activation's square in pixels; sides are multiples of half a pixel."""
_FRAMES = 100
"""Maximum number of frames in a second."""
_KEYS = {
    **dict.fromkeys((pygame.K_SPACE, pygame.K_p), " "),
    **dict.fromkeys((pygame.K_RIGHT, pygame.K_s), "s"),
    **dict.fromkeys((pygame.K_UP, pygame.K_PLUS, pygame.K_EQUALS, pygame.K_KP_PLUS), "+"),
    **dict.fromkeys((pygame.K_DOWN, pygame.K_MINUS, pygame.K_KP_MINUS), "-"),
    **dict.fromkeys((pygame.K_ESCAPE, pygame.K_q), "q"),
    pygame.K_n: "n",
}
"""Keys that mean the same on every keyboard layout."""


def size_of(board: NDArray[np.uint8]) -> tuple[int, int]:
    """Return width and height of a frame's picture for its board's picture, without layers; even, as videos need."""
    height, width, _ = board.shape
    return width + width % 2 + _PANEL, max(height + height % 2, _LEAST_HEIGHT)


def draw_frame(frame: Frame, caption: str, controls: Controls | None = None) -> pygame.Surface:
    """Draw a frame, 360 pixels wider than its board; with ``controls`` the keys are shown at the right.

    An agent's layers, if it has any, are drawn below, 240 pixels high, as they were when it decided the step.
    """
    board = picture_of(frame.world, frame.state)
    width, height = size_of(board)
    pen = Pen.on((_PANEL, height), GROUND)
    column = pen.moved(12, 14)
    column.text(f"Game {frame.seed}, step {frame.step}", (0, 16), 28, TEXT, align="left", fit=_COLUMN)
    if frame.ending:
        column.text(
            frame.ending,
            (_COLUMN, 44),
            24,
            GOOD if frame.ending == show_of(frame.world).victory else BAD,
            align="right",
        )
    column.text(caption, (0, 44), 18, MUTED, align="left", fit=_COLUMN - 80)
    if frame.decision:
        draw_decision(column.moved(0, 78), frame.decision, frame.world.actions)
    _draw_rewards(column.moved(0, 310), frame)
    if controls:
        _draw_keys(column.moved(0, height - 50), controls)
    layers = frame.agent.layers if frame.agent else None
    picture = pygame.Surface((width, height + (_LAYERS if layers else 0)))
    picture.fill(GROUND)
    picture.blit(surface_of(board), (0, 0))
    picture.blit(pen.finished(), (width - _PANEL, 0))
    if layers and frame.decision:
        picture.blit(draw_layers(layers(frame.decision.observation[None]), (width, _LAYERS)), (0, height))
    return picture


@contextmanager
def film_of_frames(
    path: Path, caption: str, speed: float, world: World, state: State, agent: Agent
) -> Iterator[Callable[[Frame], None]]:
    """Context with a function that adds frames to a film (``rlworldkit.render.film``) of ``speed`` pictures a second.

    state: any state of the world, which tells the size of its pictures. A ``.png`` gets the last frame.
    """
    width, height = size_of(picture_of(world, state))
    size = width, height + (_LAYERS if agent.layers else 0)
    with last_picture(path) if path.suffix == PICTURE else film(path, size, speed) as add:
        yield lambda frame: add(pixels(draw_frame(frame, caption)))


def draw_decision(pen: Pen, decision: Decision, names: Sequence[str]) -> None:
    """Draw an action, the value, and the probabilities of the likeliest actions, 320 pixels wide."""
    pen.text(names[decision.action], (0, 0), 24, AGENT, align="left")
    if decision.value is not None:
        pen.text(f"{VALUE} {decision.value:.2f}", (_COLUMN, 0), 20, TEXT, align="right", fit=210)
    shown, more = decision.likeliest()
    for line, action in enumerate(shown):
        probability, y = float(decision.probabilities[action]), 26 + _LINE * line
        is_taken = action == decision.action
        pen.text(names[action], (0, y), 20, AGENT if is_taken else TEXT, align="left", fit=70)
        pen.box((76, y - 6), (180, 12), OFF, radius=4)
        pen.box((76, y - 6), (max(180 * probability, 2), 12), AGENT if is_taken else MUTED, radius=4)
        pen.text(f"{probability:.1%}", (_COLUMN, y), 19, TEXT, align="right")
    if more:
        pen.text(more, (_COLUMN, 26 + _LINE * MOST_ACTIONS), 17, MUTED, align="right")


def _draw_rewards(pen: Pen, frame: Frame) -> None:
    """Draw the nonzero reward components of the step and the episode, and the sums, with a line spacing that fits."""
    rows = [("reward", "step", "episode"), *frame.reward_rows]
    height = min(19, 250 / (len(rows) - 1))
    for line, row in enumerate(rows):
        colour = MUTED if line == 0 else AGENT if row is rows[-1] else TEXT
        for text, x, align in zip(row, (0, 230, _COLUMN), ("left", "right", "right"), strict=True):
            pen.text(text, (x, height * line), 19, colour, align=align)


def _draw_keys(pen: Pen, controls: Controls) -> None:
    pen.text(controls.pace, (_COLUMN, -18), 19, BAD if controls.is_paused else MUTED, align="right")
    for line, keys in enumerate((KEYS[:3], KEYS[3:])):
        text = "   ".join(f"[{key}] {what}" for key, what in keys)
        pen.text(text, (0, 2 + 18 * line), 18, MUTED, align="left", fit=_COLUMN)


def draw_layers(layers: Sequence[tuple[str, Floats]], size: tuple[int, int]) -> pygame.Surface:
    """Draw layers beside each other, each as large as it fits and bright where it is most active.

    layers: name and activations, (1, units) or (1, maps, rows, columns). size: width and height of the picture.
    """
    pen, (width, height) = Pen.on(size, GROUND), size
    each = (width - _MARGIN) / len(layers)
    for number, (name, (values,)) in enumerate(layers):
        here = pen.moved(_MARGIN + number * each, 0)
        count, *sides = values.shape
        shape = "{} maps of {}×{}".format(count, *sides) if sides else f"{count} units"
        active = f"{np.count_nonzero(values) / values.size:.0%} active, at most {values.max():.2f}"
        for line, (text, colour) in enumerate(((f"{name}: {shape}", TEXT), (active, MUTED))):
            here.text(text, (0, 12 + 15 * line), 18, colour, align="left", fit=each - _MARGIN)
        tiles = values if sides else values[:, None, None]
        field, pixel = _arranged(shade(tiles), each - _MARGIN, height - _TITLE - _MARGIN / 2)
        here.image(field, (0, _TITLE), pixel)
    return pen.finished()


def shade(values: Floats) -> NDArray[np.uint8]:
    """Return the colours of values, uint8 (*shape, 3): from 0, dark, to the greatest, light."""
    share = np.clip(values / max(float(values.max()), 1e-12), 0, 1)[..., None]
    return (np.array(OFF) + share * (np.array(TEXT) - OFF)).round().astype(np.uint8)


def _arranged(tiles: NDArray[np.uint8], width: float, height: float) -> tuple[NDArray[np.uint8], float]:
    """Arrange tiles (n, rows, columns, 3) in a grid with gaps; also returns the pixels of a square that fit."""
    count, down, across, _ = tiles.shape
    down, across = down + 1, across + 1

    def size_in(columns: int) -> float:
        return min(width / (columns * across), height / (-(-count // columns) * down), _LARGEST)

    columns = max(range(1, count + 1), key=size_in)
    rows = -(-count // columns)
    field = np.full((rows * columns, down, across, 3), GROUND, np.uint8)
    field[:count, :-1, :-1] = tiles
    field = field.reshape(rows, columns, down, across, 3).swapaxes(1, 2).reshape(rows * down, columns * across, 3)
    return field, max(int(2 * size_in(columns)) / 2, 0.5)


class WindowScreen:
    """A window that shows frames and reads the keys pressed in it; closing it quits.

    Raises UsageError if there is no display.
    """

    def __init__(self, title: str, caption: str) -> None:
        require_display()
        self._caption = caption
        self._window = Window(title, _FRAMES)
        self._keys: deque[str] = deque()
        self.close = self._window.close

    def show(self, frame: Frame, controls: Controls, /) -> None:
        """Show a frame."""
        self._window.show(draw_frame(frame, self._caption, controls))

    def key(self, seconds: float) -> str | None:
        """Return the next key, q if the window was closed, None if no key was pressed in time."""
        end = time.monotonic() + seconds
        while True:
            self._keys += (_KEYS.get(pressed.key) or pressed.unicode for pressed in self._window.pressed())
            if self._keys:
                return self._keys.popleft()
            if not self._window.is_open:
                return "q"
            if time.monotonic() >= end:
                return None
            time.sleep(max(0.0, min(1 / _FRAMES, end - time.monotonic())))
