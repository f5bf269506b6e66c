"""``goodharts config``: print every setting and its default, to begin a ``config.toml`` with."""

from collections.abc import Sequence

from goodharts.config import as_toml
from rlparity.io.arguments import Parser


def main(argv: Sequence[str] | None = None) -> int:
    """Print the file ``config.default.toml`` and return 0."""
    parser = Parser(
        prog="goodharts config",
        description="Print every setting and its default as TOML. A config.toml in the working directory needs only "
        "those that you change.",
        allow_abbrev=False,
    )
    parser.parse_args(argv)
    print(as_toml(), end="")
    return 0
