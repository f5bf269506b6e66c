"""Pen for off-screen pictures with smooth edges, and pygame, which it draws with, without its greeting."""

import math
import os
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rlparity import ParityError
from rlparity.io.console import encodable
from rlworldkit.render.colours import Colour

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
try:
    import pygame as pygame
except ImportError:
    raise ParityError("Pictures need pygame: run `pip install pygame`.") from None

Point = tuple[float, float]


class Pen:
    """Pen on a surface of twice the size, which is scaled down in the end for smooth edges."""

    SCALE = 2

    def __init__(self, surface: pygame.Surface, origin: Point = (0, 0)) -> None:
        self.surface = surface
        self._origin = origin
        if not pygame.font.get_init():
            pygame.font.init()

    @classmethod
    def on(cls, size: tuple[int, int], ground: Colour) -> "Pen":
        """Make a pen on a new picture of this width and height."""
        pen = cls(pygame.Surface((cls.SCALE * size[0], cls.SCALE * size[1]), 0, 32))
        pen.surface.fill(ground)
        return pen

    def finished(self) -> pygame.Surface:
        """Return the picture, scaled down to its size."""
        width, height = self.surface.get_size()
        return pygame.transform.smoothscale(self.surface, (width // self.SCALE, height // self.SCALE))

    def moved(self, x: float, y: float) -> "Pen":
        """Return a pen on the same surface whose (0, 0) is at (x, y) of this one."""
        return Pen(self.surface, (self._origin[0] + x, self._origin[1] + y))

    def layer(self, size: tuple[int, int]) -> "Pen":
        """Make a transparent layer of this width and height, for ``lay`` to draw with an alpha."""
        return Pen(pygame.Surface((self.SCALE * size[0], self.SCALE * size[1]), pygame.SRCALPHA, 32))

    def lay(self, layer: "Pen", alpha: int) -> None:
        """Draw a layer at this pen's (0, 0); alpha: opacity, 0 to 255."""
        layer.surface.set_alpha(alpha)
        self.surface.blit(layer.surface, self.at((0, 0)))

    def at(self, point: Point) -> Point:
        """Convert a point of this pen to its position on the surface."""
        return (self.SCALE * (point[0] + self._origin[0]), self.SCALE * (point[1] + self._origin[1]))

    def circle(self, centre: Point, radius: float, colour: Colour, width: float = 0) -> None:
        """Draw a disk, or a ring that is ``width`` wide."""
        x, y = self.at(centre)
        pygame.draw.circle(self.surface, colour, (x, y), self.SCALE * radius, round(self.SCALE * width))

    def polygon(self, points: Sequence[Point], colour: Colour) -> None:
        """Draw a filled polygon."""
        pygame.draw.polygon(self.surface, colour, [self.at(point) for point in points])

    def line(self, start: Point, end: Point, colour: Colour, width: float = 1) -> None:
        """Draw a line."""
        pygame.draw.line(self.surface, colour, self.at(start), self.at(end), round(self.SCALE * width))

    def arc(self, centre: Point, radius: float, angles: tuple[float, float], colour: Colour, width: float) -> None:
        """Draw a part of a ring, between two angles in radians."""
        x, y = self.at((centre[0] - radius, centre[1] - radius))
        box = pygame.Rect(x, y, 2 * self.SCALE * radius, 2 * self.SCALE * radius)
        pygame.draw.arc(self.surface, colour, box, *angles, round(self.SCALE * width))

    def box(self, corner: Point, size: Point, colour: Colour, *, width: float = 0, radius: float = 0) -> None:
        """Draw a rectangle, filled or with an edge that is ``width`` wide, with corners of this ``radius``."""
        x, y = self.at(corner)
        rectangle = pygame.Rect(x, y, self.SCALE * size[0], self.SCALE * size[1])
        pygame.draw.rect(
            self.surface, colour, rectangle, round(self.SCALE * width), border_radius=round(self.SCALE * radius)
        )

    def image(self, pixels: NDArray[np.uint8], corner: Point, size: float) -> None:
        """Draw pixels (h, w, 3) as squares of this size, a multiple of half a pixel."""
        side = round(self.SCALE * size)
        large = np.ascontiguousarray(pixels if side == 1 else pixels.repeat(side, axis=0).repeat(side, axis=1))
        height, width, _ = large.shape
        self.surface.blit(pygame.image.frombuffer(large.data, (width, height), "RGB"), self.at(corner))

    def text(
        self, text: str, place: Point, size: int, colour: Colour, *, align: str = "centre", fit: float = math.inf
    ) -> float:
        """Write text, vertically centred on ``place``, which is its centre, left or right end by ``align``.

        Text wider than ``fit`` is written smaller. Returns the width.
        """
        image = _written(text, self.SCALE * size, colour)
        if image.get_width() > self.SCALE * fit:
            smaller = int(self.SCALE * size * self.SCALE * fit / image.get_width())
            image = _written(text, smaller, colour)
        x, y = self.at(place)
        width, height = image.get_size()
        x -= {"left": 0.0, "centre": width / 2, "right": float(width)}[align]
        self.surface.blit(image, (x, y - height / 2))
        return width / self.SCALE


@lru_cache(maxsize=1024)
def _written(text: str, size: int, colour: Colour) -> pygame.Surface:
    """Render a text; cached, as most texts recur in every picture (a cached font would not outlive ``pygame.quit``)."""
    return pygame.font.Font(None, size).render(encodable(text), True, colour)


def surface_of(pixels: NDArray[np.uint8]) -> pygame.Surface:
    """Convert pixels, uint8 (height, width, 3), to a surface."""
    return pygame.image.frombuffer(pixels.tobytes(), pixels.shape[1::-1], "RGB")


def pixels(surface: pygame.Surface) -> NDArray[np.uint8]:
    """Convert a surface to RGB: uint8 (height, width, 3)."""
    width, height = surface.get_size()
    return np.frombuffer(pygame.image.tobytes(surface, "RGB"), np.uint8).reshape(height, width, 3).copy()
