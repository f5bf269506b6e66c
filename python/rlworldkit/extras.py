"""Extras of this distribution, and the packages that each installs."""

from rlparity.errors import install_command

EXTRAS = {
    "jax": ("flax", "jax", "optax"),
    "gymnax": ("gymnax",),
    "sb3": ("gymnasium", "imageio_ffmpeg", "pygame", "sb3_contrib", "stable_baselines3", "tensorboard", "torch"),
    "export": ("onnx", "onnxruntime", "safetensors"),
    "play": ("textual",),
    "sweep": ("optuna",),
    "wandb": ("wandb",),
}


def install_package(module: str | None) -> str:
    """Command that installs a missing package, through the extra that contains it if there is one."""
    extra = next((name for name, modules in EXTRAS.items() if module in modules), None)
    return install_command(f"rlworldkit[{extra}]" if extra else str(module))
