"""Extras of this distribution, by the packages that they bring."""

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
    """Command that installs a package that is missing: with the extra that brings it, if one does."""
    extra = next((name for name, modules in EXTRAS.items() if module in modules), None)
    return install_command(f"rlworldkit[{extra}]" if extra else str(module))
