"""PPO on Goodharts, by rlworldkit's trainer in JAX or a small one in torch.

``train_ppo`` is the documented command, ``jobs`` has the runs that it is asked for and their checkpoints, and ``runs``
trains one and writes its files. ``jax_ppo`` gives rlworldkit's trainer its settings. In torch, ``rollout`` plays,
``ppo`` learns, and ``torch_ppo`` does both, update by update.
"""
