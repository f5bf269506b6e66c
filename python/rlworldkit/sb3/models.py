"""Model files of MaskablePPO that execute nothing when they are loaded.

Stable-Baselines3 pickles the settings of a model, and a pickle can have any function called. A model saved here holds
the settings that loading needs also as JSON (``worldkit.json``), and its tensors are read with torch's
``weights_only``. `MaskablePPO.load` can read the file, too.
"""

import io
import zipfile
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import torch
from gymnasium import spaces
from sb3_contrib import MaskablePPO
from stable_baselines3.common.utils import ConstantSchedule, FloatSchedule
from stable_baselines3.common.vec_env import VecEnv

from rlparity import World
from rlparity.errors import UsageError, quoted
from rlparity.io.safe_read import GIB, Unreadable, is_object, json_of, read_bytes, read_zip, refused
from rlparity.io.strict_json import is_json_number, json_text, number_of
from rlparity.spaces import is_count
from rlworldkit.envs.spaces import action_space, observation_space
from rlworldkit.ppo.config import ABOVE_0, WEIGHT
from rlworldkit.sb3.config import RATES, SEED, MaskablePPOConfig
from rlworldkit.sb3.model_file import LIMIT, PLAIN
from rlworldkit.settings import saved_settings, setting

Config = TypeVar("Config", bound=MaskablePPOConfig)

_FORMAT, _VERSION = "worldkit MaskablePPO", 1
_MOST_NUMBERS = GIB // 4
"""Most numbers in the rollout of a game, whose memory is allocated when a model is loaded."""


@dataclass(frozen=True)
class _Settings(MaskablePPOConfig):
    """Settings of a model in its file: those of a run, and others that a world's own configuration may set."""

    seed: Any = setting(None, "seed of network and games, or none", group="", values=SEED)
    vf_coef: float = setting(0.5, "weight of the value loss", group="", values=WEIGHT)
    max_grad_norm: float = setting(0.5, "gradient norm to clip at", group="", values=ABOVE_0)
    normalize_advantage: bool = setting(True, "normalise advantages", group="")
    target_kl: float | None = setting(None, "KL at which an update ends", group="", values=ABOVE_0)


def policy_for(observation_space: "spaces.Space[Any]") -> str:
    """Name of the policy of MaskablePPO that reads observations of a space."""
    return "MultiInputPolicy" if isinstance(observation_space, spaces.Dict) else "MlpPolicy"


def model_content(model: MaskablePPO) -> bytes:
    """Serialize a model to the bytes of a model file."""
    content = io.BytesIO()
    model.save(content)
    with zipfile.ZipFile(content, "a") as archive:
        archive.writestr(PLAIN, json_text(_metadata(model), indent=2, default=float))
    return content.getvalue()


def settings_of(model: MaskablePPO, config: Config) -> Config:
    """Copy a configuration with the settings of a model."""
    has = {name: getattr(model, name) for name in config.ppo()}
    has |= {name: rate for name in RATES if (rate := _rate_value(has[name])) is not None}
    return replace(config, **{name: value for name, value in has.items() if value is not None})


def _metadata(model: MaskablePPO) -> dict[str, Any]:
    """Return a model without its tensors as plain values; a rate that is a function is null."""
    names = _Settings().ppo()
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "settings": {
            name: _rate_value(getattr(model, name)) if name in RATES else getattr(model, name) for name in names
        },
        "num_timesteps": model.num_timesteps,
        "updates": model._n_updates,
        "episodes": [{name: float(episode[name]) for name in "rlt"} for episode in model.ep_info_buffer or ()],
    }


def _rate_value(rate: Any) -> float | None:  # noqa: ANN401 - a float or a schedule
    schedule = FloatSchedule(rate).value_schedule
    return schedule.val if isinstance(schedule, ConstantSchedule) else None


def load_model(
    path: Path,
    env: VecEnv | World,
    device: str = "auto",
    *,
    rates: Mapping[str, Any] | None = None,
    changes: Mapping[str, Any] | None = None,
    trust: bool = False,
) -> MaskablePPO:
    """Load a saved model onto a torch device.

    env: the environment in which training continues, or the world in which the model only plays. rates: the functions
    ``learning_rate`` and ``clip_range``, for a model that was trained with functions. changes: arguments of MaskablePPO
    that override those in the file. trust: allow unpickling, as Stable-Baselines3 does, which can run arbitrary code;
    needed for third-party models. Raises UsageError if the file is no model, is one of another world, or can only be
    loaded with ``trust``.
    """
    other = "give a .zip file that training wrote"
    with refused(path, "MaskablePPO model of this world", other, other):
        content = read_bytes(path, LIMIT)
        files = read_zip(content, LIMIT)
        if trust:
            try:
                there = env if isinstance(env, VecEnv) else None
                return MaskablePPO.load(io.BytesIO(content), there, device, custom_objects=dict(changes or {}))
            except Exception as error:  # unpickling runs code of the file, which can raise any exception
                raise Unreadable((str(error).splitlines() or [type(error).__name__])[0]) from error
        if PLAIN not in files:
            raise UsageError(
                f"{path} has no {PLAIN}: its settings are pickled, and unpickling can run arbitrary code: add "
                "--trust if you trust its source."
            )
        return _plain(path, files, env, device, rates or {}, changes or {})


def _plain(
    path: Path,
    files: Mapping[str, bytes],
    env: VecEnv | World,
    device: str,
    rates: Mapping[str, Any],
    changes: Mapping[str, Any],
) -> MaskablePPO:
    try:
        metadata = json_of(files[PLAIN])
    except Unreadable as fault:
        raise Unreadable(f"its {PLAIN}: {fault}") from fault
    if not is_object(metadata):
        raise Unreadable(f"its {PLAIN} is no object")
    if metadata.get("format") != _FORMAT or metadata.get("version") != _VERSION:
        raise Unreadable(f"its {PLAIN} is of version {quoted(metadata.get('version'))}, and {_VERSION} is read")
    if isinstance(env, VecEnv):
        games, observed, actions = env, env.observation_space, env.action_space
    else:
        games, observed, actions = None, observation_space(env), action_space(env)
    settings = _settings(path, metadata.get("settings"), rates, changes, is_resumed=games is not None)
    weights, optimizer = (_tensors(files, f"{name}.pth") for name in ("policy", "policy.optimizer"))
    if settings["n_steps"] * (spaces.flatdim(observed) + spaces.flatdim(actions)) > _MOST_NUMBERS:
        raise Unreadable(f"its rollouts are of {settings['n_steps']:,} steps, which takes too much memory")
    model = MaskablePPO(policy_for(observed), games, device=device, _init_setup_model=False, **settings)  # type: ignore[arg-type]
    model.observation_space, model.action_space = observed, actions
    model.n_envs = 1 if games is None else games.num_envs
    model._setup_model()
    _check_weights(weights, {name: value.shape for name, value in model.policy.state_dict().items()})
    model.policy.load_state_dict(weights)
    _restore_optimizer(model, optimizer)
    _restore_counts(model, metadata)
    return model


def _settings(
    path: Path, saved: object, rates: Mapping[str, Any], changes: Mapping[str, Any], *, is_resumed: bool
) -> dict[str, Any]:
    """Arguments of MaskablePPO from the file, overridden by ``changes``; functions are taken from ``rates``."""
    names = _Settings().ppo()
    if not is_object(saved) or saved.keys() != names.keys():
        raise Unreadable(f"its settings must be {', '.join(names)}")
    functions = [name for name in RATES if saved[name] is None and name not in changes]
    plain = {name: value for name, value in {**saved, **changes}.items() if name not in functions}
    settings = saved_settings(_Settings, plain, path)
    for name in functions:
        settings[name] = rates.get(name)
        if not callable(settings[name]):
            if is_resumed:
                raise Unreadable(
                    f"its {name} was a function, which files do not hold: resume from Python with a configuration that "
                    "has it, or with --trust"
                )
            settings[name] = names[name]  # the model only plays, and does not use it
    return settings


def _tensors(files: Mapping[str, bytes], name: str) -> Any:  # noqa: ANN401 - whatever torch read
    """Read a member of the file that holds only tensors and plain values."""
    if name not in files:
        raise Unreadable(f"it lacks {name}")
    try:
        read_zip(files[name], LIMIT)  # torch itself would unpack an archive of any claimed size
        return torch.load(io.BytesIO(files[name]), map_location="cpu", weights_only=True)
    except Unreadable as fault:
        raise Unreadable(f"its {name}: {fault}") from fault
    except Exception as error:  # a damaged pickle can raise any exception
        raise Unreadable(f"its {name} is damaged, or holds more than tensors") from error


def _check_weights(weights: object, expected: Mapping[str, torch.Size]) -> None:
    if not is_object(weights) or weights.keys() != expected.keys():
        raise Unreadable("its parameters are not those of MaskablePPO's policy for these observations")
    for name, value in weights.items():
        if not _is_like(value, expected[name]):
            raise Unreadable(f"its {name} is not made of {'×'.join(map(str, expected[name]))} numbers")


def _is_like(value: object, shape: torch.Size) -> bool:
    """Return whether a value is a tensor of this shape on the CPU, all finite float32."""
    return (
        isinstance(value, torch.Tensor)
        and value.device.type == "cpu"
        and value.layout == torch.strided
        and value.dtype == torch.float32
        and value.shape == shape
        and bool(torch.isfinite(value).all())
    )


def _restore_optimizer(model: MaskablePPO, saved: object) -> None:
    """Restore Adam's moments and steps; Adam's settings stay those of the model."""
    fresh = model.policy.optimizer.state_dict()
    shapes = [parameter.shape for parameter in model.policy.parameters()]
    state = saved.get("state") if isinstance(saved, dict) else None
    if not isinstance(state, dict) or set(state) not in (set(), set(range(len(shapes)))):
        raise Unreadable("its optimizer is of another policy")
    for number, moments in state.items():
        wanted = {"step": torch.Size(), "exp_avg": shapes[number], "exp_avg_sq": shapes[number]}
        if not is_object(moments) or moments.keys() != wanted.keys():
            raise Unreadable("its optimizer is no Adam")
        if not all(_is_like(moments[name], shape) for name, shape in wanted.items()):
            raise Unreadable("its optimizer is of another policy")
    model.policy.optimizer.load_state_dict({**fresh, "state": state})


def _restore_counts(model: MaskablePPO, metadata: Mapping[str, Any]) -> None:
    for name in ("num_timesteps", "updates"):
        if not is_count(metadata.get(name), 2**53):
            raise Unreadable(f"its {name} is {quoted(metadata.get(name))}")
    episodes = metadata.get("episodes")
    if not isinstance(episodes, list) or not all(_is_episode(episode) for episode in episodes):
        raise Unreadable("its episodes are no list of returns, lengths and times")
    model.num_timesteps, model._n_updates = metadata["num_timesteps"], metadata["updates"]
    episodes = [{name: number_of(part) for name, part in episode.items()} for episode in episodes]
    model.ep_info_buffer = deque(episodes, maxlen=model._stats_window_size)
    model.ep_success_buffer = deque(maxlen=model._stats_window_size)


def _is_episode(value: object) -> bool:
    return is_object(value) and value.keys() == set("rlt") and all(map(is_json_number, value.values()))
