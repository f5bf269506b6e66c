"""Render Matplotlib figures to bytes, which can be written atomically, and escape their texts."""

import io

from matplotlib.figure import Figure

from rlparity.io.console import encodable


def drawn(figure: Figure, form: str = "png", dpi: int = 110) -> bytes:
    """Render the figure to the bytes of a file of this format, such as `png` or `svg`."""
    file = io.BytesIO()
    figure.savefig(file, format=form, dpi=dpi)
    return file.getvalue()


def literal(text: str) -> str:
    """Escape a text so that Matplotlib draws it literally: dollar signs do not start math mode."""
    return encodable(text).replace("$", r"\$")
