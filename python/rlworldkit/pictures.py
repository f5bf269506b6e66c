"""Matplotlib's figures as the bytes of a file, so that they can be written atomically, and their texts."""

import io

from matplotlib.figure import Figure

from rlparity.io.console import encodable


def drawn(figure: Figure, form: str = "png", dpi: int = 110) -> bytes:
    """The figure as a file of this format, such as `png` or `svg`."""
    file = io.BytesIO()
    figure.savefig(file, format=form, dpi=dpi)
    return file.getvalue()


def literal(text: str) -> str:
    """A text that matplotlib draws as it is: dollar signs are no mathematics."""
    return encodable(text).replace("$", r"\$")
