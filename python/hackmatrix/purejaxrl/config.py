"""Alias, under the documented name, of the training settings."""

from hackmatrix.train_config import TrainConfig
from rlworldkit.ppo.config import DeviceConfig, auto_scale_for_batch_size, auto_tune_for_device, get_device_config

__all__ = ["DeviceConfig", "TrainConfig", "auto_scale_for_batch_size", "auto_tune_for_device", "get_device_config"]
