"""Matplotlib's figures as the bytes of a file, so that they can be written whole or not at all."""

import io

from matplotlib.figure import Figure


def drawn(figure: Figure, form: str = "png", dpi: int = 110) -> bytes:
    """The figure as a file of this format, such as `png` or `svg`."""
    file = io.BytesIO()
    figure.savefig(file, format=form, dpi=dpi)
    return file.getvalue()
