"""Weights & Biases: on where it can be, and never in the way of a run."""

import json
import math
import os
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_OFFLINE = ("offline", "dryrun")
_CONNECT_SECONDS = 20


def kept_run_id(config_file: Path) -> str | None:
    """The id on W&B that an earlier session of a run wrote into its ``config.json``; None without one."""
    try:
        kept = json.loads(config_file.read_text(encoding="utf-8")).get("wandb_id")
    except (OSError, ValueError):
        return None
    return None if kept is None else str(kept)


class WandbRun:
    """A run on W&B, or nothing: where it cannot be opened or fails later, ``say`` gets one line, once.

    Args:
        say: takes a line for the user.
        is_wanted: false for nothing, without a word.
        folder: where W&B keeps its files.
        project, entity, name: what the run is called there; no entity: the account's own.
        config: the run's settings.
        run_id: the id of a run to go on with; None: a new one.
        rewind_to: forget what that run logged after this step.
    """

    def __init__(
        self,
        say: Callable[[str], None],
        *,
        is_wanted: bool = True,
        folder: Path,
        project: str,
        name: str,
        config: Mapping[str, Any],
        entity: str | None = None,
        run_id: str | None = None,
        rewind_to: int | None = None,
    ) -> None:
        self._say = say
        self._run: Any = None
        mode = os.environ.get("WANDB_MODE", "online")
        if not is_wanted or mode == "disabled":
            return
        if find_spec("wandb") is None:
            self._leave_out('it is not installed (pip install "hackmatrix[wandb]")')
            return
        import wandb

        if not (mode in _OFFLINE or wandb.api.api_key):
            self._leave_out("nobody is logged in (`wandb login`, or WANDB_MODE=offline)")
            return
        is_online = mode not in _OFFLINE
        going_on: dict[str, Any] = {"id": run_id}
        if run_id is not None and is_online:
            going_on = {"id": run_id, "resume": "allow"}
            if rewind_to is not None:
                going_on = {"resume_from": f"{run_id}?_step={rewind_to}"}
        try:
            self._run = wandb.init(
                **going_on,
                project=project,
                entity=entity,
                name=name,
                dir=str(folder),
                config=dict(config),
                settings=wandb.Settings(silent=True, console="off", init_timeout=_CONNECT_SECONDS),
            )
        except Exception as error:
            self._leave_out(_first_line(error))

    @property
    def run_id(self) -> str | None:
        """The run's id on W&B; None without one."""
        return None if self._run is None else str(self._run.id)

    def write(self, metrics: Mapping[str, float]) -> None:
        """Send metrics, at the step that their ``update`` or else their ``timesteps`` names."""
        step = int(metrics.get("update", metrics.get("timesteps", 0)))
        known = {name: value for name, value in metrics.items() if not math.isnan(value)}
        self._try(lambda: self._run.log(known, step=step))

    def upload(self, path: Path) -> None:
        """Keep a file on W&B as an artifact of the run."""

        def log() -> None:
            self._run.log_artifact(str(path), name=f"{self._run.id}-{path.stem.split('_')[0]}", type="model")

        self._try(log)

    def close(self) -> None:
        """Finish the run; done a second time, nothing."""
        self._try(lambda: self._run.finish())
        self._run = None

    def _try(self, call: Callable[[], object]) -> None:
        if self._run is None:
            return
        try:
            call()
        except Exception as error:
            self._run = None
            self._leave_out(_first_line(error))

    def _leave_out(self, why: str) -> None:
        self._say(f"W&B is left out: {why}; --no-wandb silences this.")


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
