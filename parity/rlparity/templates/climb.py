"""Climb: a die says how far a climber gets, 10 is the top. Replace the game and both engines by your own."""

import numpy as np

from rlparity import BatchEngine, BatchStep, Board, EngineOptions, World

TOP = 10
FACTOR = 0x9E3779B97F4A7C15


class Original(BatchEngine):
    """The reference: one game after the other, each a dict."""

    def __init__(self, games, options=EngineOptions()):
        self.games = games
        self.list = [{"seed": 0, "turn": 0, "height": 0} for _ in range(games)]

    def reset(self, seeds, slots):
        return self.set_state([{"seed": seed, "turn": 0, "height": 0} for seed in seeds.tolist()], slots)

    def restart(self, slots):
        return self.reset(self.seeds()[slots] + np.uint64(1), slots)

    def seeds(self):
        return np.array([game["seed"] for game in self.list], np.uint64)

    def mask(self):
        return np.array([[game["height"] < TOP] * 2 for game in self.list])

    def step(self, actions):
        return self.result([self.play(game, action) for game, action in zip(self.list, actions, strict=True)])

    def play(self, game, action):
        """Climb as far as the die says (0), or walk one up (1); returns the gain."""
        if game["height"] >= TOP:
            return 0
        game["turn"] += 1
        die = ((game["seed"] + game["turn"]) * FACTOR % 2**64 >> 32) % 3 + 1
        gain = die if action == 0 else 1
        game["height"] += gain
        return gain

    def result(self, gains):
        components = np.array(gains, np.int32)[:, None]
        reward = components[:, 0].astype(np.float32)
        return BatchStep(self.observe(range(self.games)), components, reward, ~self.mask()[:, 0])

    def get_state(self, slots):
        return [dict(self.list[slot]) for slot in slots]

    def set_state(self, states, slots):
        for slot, state in zip(slots, states, strict=True):
            self.list[slot] = dict(state)
        return self.observe(slots)

    def observe(self, slots):
        return np.array([[self.list[slot]["height"]] for slot in slots], np.float32)


class Port(Original):
    """The port: so far only its steps are its own, of all games at once."""

    def step(self, actions):
        seed, turn, height = np.array([list(game.values()) for game in self.list], np.uint64).T
        valid = height < TOP
        turn = turn + valid
        die = ((seed + turn) * np.uint64(FACTOR) >> np.uint64(32)) % np.uint64(3) + np.uint64(1)
        gains = valid * np.where(actions == 0, die, np.uint64(1))
        rows = zip(seed.tolist(), turn.tolist(), (height + gains).tolist(), strict=True)
        self.list = [dict(zip(("seed", "turn", "height"), row, strict=True)) for row in rows]
        return self.result(gains)


WORLD = World(
    name="climb",
    engines={"original": Original, "port": Port},
    actions=("climb", "walk"),
    components=("gain",),
    observation_shape=(1,),
    state_fields=("seed", "turn", "height"),
    draw=lambda state: Board((tuple("@" if cell == state["height"] else "" for cell in range(TOP + 3)),), state),
)
