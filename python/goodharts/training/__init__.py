"""PPO on Goodharts, by worldkit's trainer in JAX or a small one in torch.

``train_ppo`` is the documented command and ``runs`` is a run of one mode with all that it writes. ``jax_ppo`` gives
worldkit's trainer its settings; ``engines`` chooses. In torch, from the inside out: ``ppo`` and ``popart`` are losses,
``inputs`` is what a network is shown, ``rollout`` plays, ``learner`` learns, ``torch_trainer`` does both update by
update, ``torch_ppo`` is its loop. ``checkpoints`` keeps either, and ``process_pool`` trains several modes side by side.
"""
