"""``goodharts evaluate`` and ``compare``: let trained agents live, and count what they eat and when they die."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from rich.console import Console

from goodharts.config import ALL, Config, Modes, model_path, read_config
from goodharts.evaluation import report
from goodharts.evaluation.report import FIGURES, EvaluationResult
from goodharts.rules import DEFAULT_MODE, DEFAULT_MODES, MODES, Mode
from rlparity.errors import UsageError
from rlparity.io.arguments import STANDARD_OUTPUT, OneOf, Parser
from rlparity.io.console import open_console, typed_command
from rlworldkit.agents.agent import Agent
from rlworldkit.agents.reader import RANDOM, read_agent
from rlworldkit.cli.compare import add_group_flags, checked_groups, write_comparison
from rlworldkit.cli.outputs import JSON_HELP, OUTPUT, write_output
from rlworldkit.cli.players import add_choice_flags, add_older_names, add_trust_flag, choice_of
from rlworldkit.runs.console import working
from rlworldkit.sections import add_setting, flags_given

_MODELS, _FIGURE = Path("models"), "efficiency"
_SETTINGS = (("evaluation", "games"), ("evaluation", "steps"), ("evaluation", "seed"), ("runtime", "device"))
_PUBLISHED_SIZE = {"games": "; published are 8,192", "steps": "; published are 16,384"}


Player = tuple[Mode, Agent]
"""Mode and agent of one evaluation."""


def main(argv: Sequence[str] | None = None) -> int:
    """Evaluate models or the random player, print the figures, write them as JSON where asked, and return 0.

    Finished evaluations are printed and written even where a later one is interrupted or fails. Raises UsageError
    where a model, the configuration or the device cannot be used.
    """
    parser = _parser(
        "evaluate",
        "Evaluate trained agents, which respawn when they die: print what they eat and how long they live, with 95% "
        "confidence intervals, beside the published figures.",
    )
    parser.add_argument(
        "-m",
        "--mode",
        type=Modes(RANDOM),
        metavar="MODE",
        help=f"modes whose models/ppo_MODE.pth play, separated by commas: {', '.join(MODES)}; {ALL}: all but the "
        f"last; {RANDOM}: random actions, without a model (default {ALL})",
    )
    parser.add_argument("--model", type=Path, metavar="FILE", help="model, or other agent file, to evaluate")
    args = parser.parse_args(argv)
    if args.model is None:
        players = [_player_named(name) for name in args.mode or DEFAULT_MODES]
    else:
        players = [_player_at(args.model, ",".join(args.mode or ()) or None, trust=args.trust)]
    written(_played(players, args, printing=True), args.json)
    return 0


def compare(argv: Sequence[str] | None = None) -> int:
    """Print one table of all players, write it and draw it where asked, and return 0; raises as ``main`` does."""
    parser = _parser(
        "compare",
        "Compare all modes with the published figures, in one table and one picture. The figures come from JSON files; "
        "without files, the models in --models and random actions are evaluated first.",
    )
    parser.add_argument(
        "results", nargs="*", type=Path, metavar="FILE", help="JSON file that `evaluate` or this command wrote"
    )
    parser.add_argument("--models", type=Path, metavar="DIR", help=f"folder of the models (default {_MODELS})")
    add_group_flags(parser, required=False)
    figure = f"figure to compare groups by: {', '.join(FIGURES)} (default {_FIGURE})"
    parser.add_argument("--figure", type=OneOf(tuple(FIGURES)), default=_FIGURE, metavar="NAME", help=figure)
    args = parser.parse_args(argv)
    if groups := checked_groups(parser, args):
        if args.results or args.models:
            parser.error("--group names all that is compared: leave files and --models out")
        return _compare_groups(args, groups)
    if args.markdown or args.target is not None:
        parser.error("--markdown and --target go with --group: add it, or leave them out")
    given = [f"--{name}" for name in ("models", "choose", "search") if getattr(args, name)]
    given += [f"--{key}" for keys in flags_given(args).values() for key in keys]
    if args.results and given:
        parser.error(f"files of evaluations are read as they are: leave {given[0]} out, or the files")
    if args.results:
        evaluations: Iterable[EvaluationResult] = [each for path in args.results for each in report.read_results(path)]
    else:
        evaluations = _played([*_players_in(args.models or _MODELS), _player_named(RANDOM)], args)
    found, console = written(evaluations, args.json), _console(args)
    if not found:
        raise UsageError(f"{args.results[0]} holds no evaluation: name files that `goodharts evaluate --json` wrote.")
    console.print(report.comparison(found))
    for each in found:
        console.print(report.as_sentence(each), soft_wrap=True)
    if args.picture:
        from goodharts.evaluation.picture import draw_comparison

        write_output(args.picture, draw_comparison(found, args.picture.suffix[1:].lower()))
    return 0


def _compare_groups(args: argparse.Namespace, groups: Mapping[str, Sequence[str]]) -> int:
    """Compare groups of models by a figure of each; models that were trained from the same seed are pairs."""
    from goodharts.models import training_of
    from rlworldkit.evaluation.comparison import ScoredRun

    paths = {name: [file for path in members for file in _files_in(Path(path))] for name, members in groups.items()}
    players = {name: [_player_at(path, trust=args.trust) for path in of] for name, of in paths.items()}
    scored: dict[str, list[ScoredRun]] = {}
    for name, of in players.items():
        figures = [found.figures[args.figure]["mean"] for found in _played(of, args)]
        seeds = [training_of(agent)[0].get("training", {}).get("seed") for _, agent in of]
        scored[name] = [ScoredRun(str(path), *each) for path, *each in zip(paths[name], seeds, figures, strict=True)]
    write_comparison(_console(args), scored, args, FIGURES[args.figure].title)
    return 0


def _files_in(path: Path) -> Sequence[Path]:
    """The file itself, or the models in a folder and its subfolders; raises UsageError where there is none."""
    names = [model_path(mode).name for mode in MODES]
    found = sorted(file for file in path.rglob("*.pth") if file.name in names) if path.is_dir() else [path]
    if not found:
        raise UsageError(f"There is no model in {path}, such as {names[0]}: name files or folders.")
    return found


def _console(args: argparse.Namespace) -> Console:
    return open_console(stderr=args.json == STANDARD_OUTPUT)


def written(evaluations: Iterable[EvaluationResult], target: Path | None) -> list[EvaluationResult]:
    """All evaluations, written as JSON to ``target`` if given, even where a later one is interrupted or fails."""
    found: list[EvaluationResult] = []
    try:
        found.extend(evaluations)  # keeps finished evaluations even if the next one raises
    finally:
        if target and found:
            write_output(target, report.as_json(found))
    return found


def _played(players: Sequence[Player], args: argparse.Namespace, printing: bool = False) -> Iterator[EvaluationResult]:
    """Evaluate the players one after the other, with live progress on a terminal.

    printing: print each evaluation when it is finished.
    """
    from goodharts.devices import choose_device
    from goodharts.evaluation.lives import evaluate

    config, console = read_config(flags_given(args)), _console(args)
    device, how = choose_device(config.runtime.device), config.evaluation
    for mode, agent in players:
        name = RANDOM if agent.path == Path(RANDOM) else mode.name
        text = f"{name}: playing {how.games:,} games of {how.steps:,} steps"
        with working(console, text, how.games * how.steps) as advance:
            found = evaluate(mode, agent, config, device, choice=choice_of(args), advanced=advance)
        if printing:
            console.print(report.as_table(found))
            console.print(report.as_sentence(found), soft_wrap=True)
        yield found


def _player_named(name: str) -> Player:
    """The random player, or the model of a mode."""
    return _player_at(Path(RANDOM), DEFAULT_MODE) if name == RANDOM else _player_at(model_path(name), name)


def _player_at(path: Path, mode: str | None = None, *, trust: bool = False) -> Player:
    """The agent in a file, of a mode if one is given; raises UsageError where it cannot be used."""
    from goodharts.cli.main import PROGRAM

    world = PROGRAM.world_of(mode, path)
    return MODES[world.name.removeprefix(f"{PROGRAM.name}-")], read_agent(world, path, trust=trust)


def _players_in(folder: Path) -> list[Player]:
    """The models of a folder, of any mode; raises UsageError where one cannot be used, or there is none."""
    paths = {mode: path for mode in MODES if (path := model_path(mode, folder)).exists()}
    if not paths:
        train = typed_command("goodharts", "goodharts.cli.main", "train", "--mode", "all")
        path = model_path(DEFAULT_MODE, folder)
        raise UsageError(
            f"There is no model in {folder}, such as {path}: train them with `{train}`, or name another --models."
        )
    return [_player_at(path, mode) for mode, path in paths.items()]


def _parser(command: str, description: str) -> Parser:
    """Parser with the flags of both commands: games, steps, seed, device, choice of actions, and JSON output."""
    parser = Parser(prog=f"goodharts {command}", description=description, allow_abbrev=False)
    for section, key in _SETTINGS:
        add_setting(parser, Config, section, key, note=_PUBLISHED_SIZE.get(key, ""))
    add_trust_flag(parser)
    add_choice_flags(parser)
    parser.add_argument("--json", type=OUTPUT, metavar="FILE", help=JSON_HELP)
    add_older_names(parser)
    return parser
