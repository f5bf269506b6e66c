"""Every TOML file that a command takes is read by one reader: whatever is wrong with it is one sentence."""

from collections.abc import Callable
from pathlib import Path

import pytest

from goodharts.config import USER_FILE, read_config
from hackmatrix.cli.game import GAME
from hackmatrix.world import WORLD
from rlparity.core.ledger import read_ledger
from rlparity.core.prices import read_prices, with_prices
from rlparity.errors import UsageError
from rlparity.tools.mutant_judges import project_bench
from rlparity.tools.project import read_tables
from rlworldkit.config_layers import from_file
from rlworldkit.ppo.config import TrainConfig
from rlworldkit.sweep.space import read_sweep

READERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "ledger": (read_ledger, "worlds = ['orchard']\n[entries.a]\nshare = {}"),
    "prices": (lambda path: with_prices(WORLD, read_prices([], path)).price_values, "kills = {}"),
    "project": (read_tables, "[tool.rlparity.worlds.orchard]\nseed = {}"),
    "mutants": (project_bench, "ignore = {}\ntests = []"),
    "settings": (lambda path: from_file(TrainConfig, path), "seed = {}"),
    "sweep": (lambda path: read_sweep(GAME, path, {}), "steps = 64\n[settings]\nlearning_rate = {}"),
    "goodharts": (lambda path: read_config(folder=path.parent, environ={}), "[training]\nlearning_rate = {}"),
}


WRONG = ["9" * 5000, "0x" + "f" * 5000, "[" * 5000, "", "nan", "2024-01-01", "'\xe9", "1\n" * 2**20]


@pytest.mark.parametrize("value", WRONG)
@pytest.mark.parametrize("reader", READERS)
def test_a_wrong_value_in_any_toml_file_is_one_sentence_that_names_it(reader: str, value: str, tmp_path: Path) -> None:
    read, text = READERS[reader]
    path = tmp_path / USER_FILE
    path.write_text(text.format(value), encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        read(path)
    said = str(caught.value)
    assert said.isprintable()
    assert len(said) < 1200
    assert any(name in said for name in (path.name, "tool.rlparity", "the price kills"))


@pytest.mark.parametrize("reader", READERS)
def test_a_byte_order_mark_changes_nothing(reader: str, tmp_path: Path) -> None:
    read, text = READERS[reader]
    path = tmp_path / USER_FILE

    def answer(mark: str) -> str:
        path.write_text(mark + text.format(1), encoding="utf-8")
        try:
            return str(read(path))
        except UsageError as error:
            return str(error)

    assert answer("\ufeff") == answer("")
