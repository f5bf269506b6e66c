"""A trained agent at work: ``player`` lets it live, a ``moment`` is what can be seen of it, ``picture`` draws that.

``showing`` puts moments into a window or a file. Only that and the pictures need pygame.
"""

from rlworldkit.render.film import FILMS

PICTURE = ".png"
KINDS = (*FILMS, PICTURE)
"""Suffixes of recordings: a video, an animation, or the last moment alone."""
