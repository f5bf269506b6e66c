"""PPO on the torch engine of Goodharts.

From the inside out: ``ppo`` and ``popart`` are the arithmetic, ``inputs`` is what a network is shown, ``rollout``
plays, ``learner`` learns, ``trainer`` does both update by update, ``checkpoints`` keeps it. ``session`` is a run of one
mode with all that it writes, ``crew`` trains several modes side by side, ``progress`` shows them, and ``train_ppo`` is
the documented command.
"""
