"""``hackmatrix watch-sb3``: watch a trained MaskablePPO agent play."""

import contextlib
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hackmatrix.render import board_model, draw_text
from hackmatrix.rules import ACTIONS, NUM_STAGES
from hackmatrix.world import ENGINES
from parity.arguments import SEED, STEPS, Parser, Real
from parity.errors import UsageError
from worldkit.cli.train_sb3 import require_sb3
from worldkit.render.display import has_display

if TYPE_CHECKING:
    from hackmatrix.gym_env import HackMatrixEnv

WINDOW, TEXT = "human", "ansi"


def main(argv: Sequence[str] | None = None) -> int:
    """Play episodes and show every board; the exit code is 0.

    Raises:
        SystemExit: code 2 with one sentence on standard error where the command line is wrong.
        UsageError: the model cannot be used.
        SwiftEngineError: the engine is not built, or fails.
    """
    args = _parser().parse_args(argv)
    require_sb3("hackmatrix[sb3]")
    from hackmatrix.gym_env import HackMatrixEnv
    from worldkit.sb3.training import load_model

    model = load_model(args.model, device="cpu", trust=args.trust)
    with contextlib.closing(HackMatrixEnv(args.render, engine=args.engine)) as env:
        if (model.observation_space, model.action_space) != (env.observation_space, env.action_space):
            raise UsageError(f"{args.model} is a model of another game: name one that plays HackMatrix.")
        for game in ((args.seed + number) % 2**64 for number in range(args.episodes)):
            observation, info = env.reset(seed=game)
            show(env, f"game {game}", args.delay)
            while "episode_stats" not in info and info["turn"] < args.max_turns:
                masks = env.action_masks()
                action = int(model.predict(observation, action_masks=masks, deterministic=not args.stochastic)[0])
                observation, reward, _, _, info = env.step(action)
                show(env, f"{ACTIONS[action]}  {reward:+.3f}", args.delay)
            print(_verdict(game, info))
    return 0


def show(env: "HackMatrixEnv", caption: str, delay: float) -> None:
    """Show the board as it is, with a caption; a window has its own pace."""
    if env.render_mode == TEXT:
        print(draw_text(board_model(env.get_state()), colour=sys.stdout.isatty()))
        time.sleep(delay)
    print(caption, flush=True)


def _verdict(game: int, info: dict[str, Any]) -> str:
    if "episode_stats" not in info:
        return f"game {game}: not over after turn {info['turn']} of stage {info['stage']}"
    stage, stats = min(info["stage"], NUM_STAGES), info["episode_stats"]
    ending = "won" if info.get("victory") else "died" if info.get("death") else "ended by an invalid action"
    return f"game {game}: {ending} in stage {stage} after {stats['steps']} steps, return {stats['return']:.3f}"


def _parser() -> Parser:
    parser = Parser(
        prog="hackmatrix watch-sb3", description="Watch a trained MaskablePPO agent play.", allow_abbrev=False
    )
    parser.add_argument("--model", type=Path, required=True, metavar="ZIP", help="a model that training wrote")
    parser.add_argument(
        "--trust", action="store_true", help="let the file execute what it likes, as models need that others saved"
    )
    parser.add_argument("--episodes", type=STEPS, default=1, metavar="N", help="how many games (default 1)")
    parser.add_argument("--seed", type=SEED, default=0, metavar="N", help="the first game's seed (default 0)")
    parser.add_argument("--stochastic", action="store_true", help="draw actions instead of taking the likeliest")
    parser.add_argument("--engine", choices=ENGINES, default="swift", help="(default swift)")
    parser.add_argument(
        "--render",
        choices=(WINDOW, TEXT),
        default=WINDOW if has_display() else TEXT,
        help="a window or text (default: a window where there is a display)",
    )
    parser.add_argument(
        "--delay", type=Real(0, 3600), default=0.25, metavar="SECONDS", help="wait after every text (default 0.25)"
    )
    parser.add_argument(
        "--max-turns",
        type=STEPS,
        default=1000,
        metavar="N",
        help="leave a stage that lasts longer (default 1000)",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
