"""Other people's environments as engines: each adapter imports its library when it is opened.

An adapter says how a game begins and what an action does, and a ``Pairing`` what both sides have in common::

    class Mine(SingleGame):
        def begin(self, seed):
            return self.env.reset(seed=seed)[0]

        def act(self, action):
            observation, reward, terminated, truncated, _ = self.env.step(action)
            return Outcome(observation, reward, terminated, truncated)

    WORLD = Pairing("game", {"theirs": lambda: GymGame(make), "mine": Mine}, ("left", "right"), (4,)).world()

Then ``rlparity run --world module:WORLD`` plays both. Observations may be nested dicts (``observation_shape`` names the
parts), actions arrays (``rlparity.Box``, ``rlparity.MultiDiscrete``), and rewards one for each of several ``players``.
Games with ``pull`` and ``push`` are compared by their states too, and can begin in each other's (``--mode injected``).
Environments of known libraries have names on the command line, see ``rlparity.adapters.named``.
"""
