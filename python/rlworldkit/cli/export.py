"""``export``: write an agent's policy as a file for other programs, and a model card beside it."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from rlparity.io.arguments import Parser
from rlparity.io.atomic_write import check_output
from rlparity.io.safe_read import MIB, Unreadable, read_bytes
from rlworldkit.agents.reader import agents_text, read_agent
from rlworldkit.cli import players
from rlworldkit.cli.outputs import OUTPUT, write_output
from rlworldkit.export.policy import FORMATS, ONNX, exported, model_card
from rlworldkit.program import Program
from rlworldkit.runs.folder import CURVE
from rlworldkit.score import score_of


def main(program: Program, argv: Sequence[str]) -> int:
    """Write the policy, its card and the learning curve of its run, if any; print the paths, and return 0."""
    parser = _parser(program)
    args = parser.parse_args(argv)
    suffix = args.output.suffix[1:] if args.output else ""
    kind = args.format or (suffix if suffix in FORMATS else ONNX)
    if args.output and suffix != kind:
        parser.error(f"{args.output} is not named as a file of --format {kind}: name it *.{kind}")
    output = args.output or Path(f"{args.agent.resolve().stem}.{kind}")
    card, picture = (Path(f"{output}{end}") for end in (".md", ".png"))
    for path in (output, card, picture):
        check_output(path, streams=True)
    # Imported only now, so that a mistaken command line fails at once.
    from rlworldkit.show.pages.run import curves

    world = program.world_of(args.mode, args.agent)
    agent = read_agent(world, args.agent, trust=args.trust)
    content, metadata = exported(agent, kind, program, world)
    try:
        curve = read_bytes(agent.path.parent / CURVE, 16 * MIB)
    except (FileNotFoundError, Unreadable):
        curve = b""
    is_installed = Path(sys.executable).with_name(program.name).exists()
    words = [program.name] if is_installed else ["python", "-m", program.module]
    commands = [shlex.join([*words, "export", *argv])]
    if kind == ONNX:
        model = ["--model"] if "evaluate" in program.commands else []
        commands.append(shlex.join([*words, "evaluate", *model, str(output), "--choose", "likeliest"]))
    metrics = curves(agent.path.parent, score_of(world).milestone)
    page = model_card(output, metadata, metrics, picture.name if curve else None, commands)
    for target, written in ((output, content), (picture, curve), (card, page)):
        if written:
            write_output(target, written)
            print(f"Written: {target}")
    return 0


def _parser(program: Program) -> Parser:
    description = "Write the policy of an agent as a file for other programs, and a model card beside it."
    parser = program.parser("export", description)
    parser.add_argument("agent", type=Path, metavar="PATH", help=f"agent: {agents_text(program.world)}")
    players.add_mode_flag(parser, program)
    kinds = "onnx: a graph for onnxruntime; the others: the parameters alone (default: FILE's ending, or onnx)"
    parser.add_argument("--format", choices=FORMATS, help=kinds)
    place = "file to write; its card is FILE.md (default: PATH's name, in the working directory)"
    parser.add_argument("--output", type=OUTPUT, metavar="FILE", help=place)
    players.add_trust_flag(parser)
    return parser
