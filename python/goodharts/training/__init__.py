"""PPO on Goodharts, by rlworldkit's trainer in JAX or a small one in torch.

``train_ppo`` is the documented command and ``runs`` is a run of one mode with all that it writes. ``jax_ppo`` gives
rlworldkit's trainer its settings; ``engines`` chooses. In torch, ``rollout`` plays, ``ppo`` learns, and ``torch_ppo``
does both, update by update. ``checkpoints`` reads either, and ``process_pool`` trains several modes side by side.
"""
