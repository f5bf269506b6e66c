"""``export``: write an agent's policy as a file for other programs, and a model card beside it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from parity.arguments import Parser
from parity.safe_read import MIB, Unreadable, read_bytes
from rlworldkit.cli import players
from rlworldkit.cli.outputs import check_output, write_output
from rlworldkit.export.policy import FORMATS, ONNX, content_of, metadata_of, policy_of
from rlworldkit.game import Game
from rlworldkit.runs.folder import CURVE

_PICTURE_LIMIT = 16 * MIB


def main(game: Game, argv: Sequence[str]) -> int:
    """Write the policy, its card and the picture of its run's curve if there is one; print where, and return 0."""
    parser = _parser(game)
    args = parser.parse_args(argv)
    suffix = args.output.suffix[1:] if args.output else ""
    args.format = args.format or (suffix if suffix in FORMATS else ONNX)
    if suffix in FORMATS and suffix != args.format:
        parser.error(f"{args.output} is not named as a file of --format {args.format}: name it *.{args.format}")
    args.output = args.output or Path(f"{args.agent.resolve().stem}.{args.format}")
    card, picture = (Path(f"{args.output}{end}") for end in (".md", ".png"))
    for path in (args.output, card, picture):
        check_output(parser, str(path))
    # Imported only now: a mistaken command line should not have to wait.
    from rlworldkit.export.card import model_card
    from rlworldkit.viewer.run import curves

    view = players.view_of(game, args.mode, args.agent)
    path, agent = players.load(game, view, args.agent, trust=args.trust)
    policy = policy_of(agent, path)
    metadata = metadata_of(policy, game, view)
    content = content_of(policy, args.format, metadata, view)
    try:
        curve = read_bytes(path.parent / CURVE, _PICTURE_LIMIT)
    except (FileNotFoundError, Unreadable):
        curve = b""
    model = ["--model"] if game.evaluation is None else []
    commands = [shlex.join([game.name, "export", *argv])]
    if args.format == ONNX:
        commands.append(shlex.join([game.name, "evaluate", *model, args.output.name, "--deterministic"]))
    about = model_card(
        args.output, metadata, curves(path.parent, game.milestone), picture.name if curve else None, commands
    )
    for target, written in ((args.output, content), (picture, curve), (card, about)):
        if written:
            write_output(str(target), written)
            print(f"Written: {target}")
    return 0


def _parser(game: Game) -> Parser:
    view = players.view_of(game)
    parser = Parser(
        prog=f"{game.name} export",
        description="Write the policy of an agent as a file for other programs, and a model card beside it.",
        allow_abbrev=False,
    )
    parser.add_argument("agent", type=Path, metavar="PATH", help=players.agents_text(view))
    players.add_mode_flag(parser, game)
    parser.add_argument(
        "--format",
        choices=FORMATS,
        help="a graph that onnxruntime computes, or the parameters alone (default: as FILE is named, or onnx)",
    )
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="where it goes, the card to FILE.md (default: PATH's name, in the working directory)",
    )
    players.add_trust_flag(parser)
    return parser
