"""How Orchard is watched and played."""

from rlparity import State
from rlworldkit.render.show import Show


def draw_text(state: State) -> str:
    """The board alone, in columns."""
    from orchard.world import draw_board

    return "\n".join("".join(f"{cell:6}" for cell in row) for row in draw_board(state).rows)


SHOW = Show(text=draw_text)
