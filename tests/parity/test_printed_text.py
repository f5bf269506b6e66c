"""Names and sentences from anywhere are printed as text: they break no line and do not act on the terminal."""

from dataclasses import replace

import faulty_orchard
import pytest
from orchard.plain import PlainEngine
from rich.live import Live

from rlparity import Price, StateRefused, UsageError
from rlparity.core.compare import Difference, value_text
from rlparity.io.console import open_console, plain_text
from rlparity.io.table import Records, Table, markdown_text

ODD, SHOWN = "a\n\x1b[31mb\u202ec", r"a\n\x1b[31mb\u202ec"


def test_what_acts_on_a_terminal_becomes_its_code() -> None:
    texts = {
        "usage error": str(UsageError(ODD)),
        "refusal": str(StateRefused(ODD)),
        "field": Difference(f"state.{ODD}", 0, 1).field,
        "value": value_text(ODD),
        "cell": plain_text(Records("n", "title", ("head",), [[ODD]]).print),
    }
    assert {name: (SHOWN in text, "\x1b" in text) for name, text in texts.items()} == dict.fromkeys(
        texts, (True, False)
    )


def test_tables_keep_their_lines_and_markdown_its_rows() -> None:
    table = Table("one")
    table.add_row("up\x1b[2J\ndown")
    said = plain_text(lambda console: console.print(table))
    assert ("\x1b" in said, r"│ up\x" in said, "│ down" in said) == (False, True, True)
    assert markdown_text("a\n\x1bb") == r"a \x1bb"


def test_colours_and_screens_of_our_own_work(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    console = open_console()
    with Live("[up]", console=console, auto_refresh=False) as live:
        live.update("\x1b[31mdown", refresh=True)
    console.print("red", style="red")
    said = capsys.readouterr().out
    assert ("\x1b[31mred" in said, r"\x1b[31mdown" in said, "\x1b[31mdown" in said) == (True, True, False)


def test_a_world_with_odd_names_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for parts in ({"prices": (Price(ODD, 1, 0, 2),)}, {"actions": (ODD,)}, {"engines": {ODD: PlainEngine}}):
        with pytest.raises(ValueError, match="which is no printable text"):
            replace(faulty_orchard.WORLD, **parts)
