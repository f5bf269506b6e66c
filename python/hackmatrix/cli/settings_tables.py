"""Write the tables of settings into the documents, as the code states them.

python -m hackmatrix.cli.settings_tables
"""

import re
from pathlib import Path

from hackmatrix.cli.game import GAME
from worldkit.cli.train import TrainOptions
from worldkit.cli.train_sb3 import TrainSB3Options
from worldkit.settings import as_markdown

ROOT = Path(__file__).resolve().parents[3]
TABLES = {
    "docs/training-reference.md": (GAME.train_config, TrainOptions),
    "docs/sb3.md": (GAME.sb3_config, TrainSB3Options),
}
"""Page -> the settings that its table lists."""

_TABLE = re.compile(r"^\| flag \| default \| values \| meaning \|\n(\|.*\n)+", re.MULTILINE)


def renewed(page: str, text: str) -> str:
    """The page with its table as the code states it."""
    return _TABLE.sub(lambda _: as_markdown(*TABLES[page]) + "\n", text, count=1)


if __name__ == "__main__":
    for page in TABLES:
        path = ROOT / page
        path.write_text(renewed(page, path.read_text(encoding="utf-8")), encoding="utf-8")
