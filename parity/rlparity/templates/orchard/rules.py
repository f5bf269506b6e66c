"""The rules of Orchard, and the names that its engines share; their numbers are in each engine.

A walker picks apples on 4×4 cells (cell = 4·row + column, row 0 on top) while a wasp flies about.

- O-START The walker and the wasp stand on drawn cells (the wasp one cell on if they are the same). Each other
  cell holds an apple of ripeness 1–3 with probability 1/4; without any, the cell five on from the walker
  holds one of ripeness 1. hp 2.
- O-MOVE Actions 0–3 move up, down, left, right; valid where the board goes on.
- O-PICK Action 4 picks the apple of the walker's cell; score + ripeness. Valid where there is one.
- O-REST Action 5 rests: hp + 1, at most 3. Always valid.
- O-INVALID An invalid action changes nothing and terminates.
- O-WASP After a valid action the turn goes up and the wasp flies one cell in a drawn direction, if the board goes on.
- O-STING A wasp on the walker's cell then costs 1 hp.
- O-END No apple left or hp 0: terminated, and no action is valid any more.
- O-NEXT The next game's seed is mix(seed).
- O-REWARD step −10, fruit 100 × ripeness picked, sting −500; in thousandths. Prices: these three numbers.
- O-DRAW Word (seed, turn, site) = the upper 32 bits of mix(seed + C·(64·turn + site + 1)), C = 0x9E3779B97F4A7C15;
  mix is splitmix64's finaliser. Sites: 0 direction of the wasp (mod 4); at turn 0 also 1 walker, 2 wasp (mod 16),
  16 + cell apple (mod 4 is 0), 32 + cell ripeness (1 + mod 3).
"""

ACTIONS = ("up", "down", "left", "right", "pick", "rest")
COMPONENTS = ("step", "fruit", "sting")
"""Parts of the reward, in thousandths."""
MARKS = {
    "start": "O-START",
    "start.empty": "O-START",
    "move": "O-MOVE",
    "pick": "O-PICK",
    "rest": "O-REST",
    "invalid": "O-INVALID",
    "wasp": "O-WASP",
    "sting": "O-STING",
    "end.picked": "O-END",
    "end.dead": "O-END",
    "next": "O-NEXT",
}
"""Mark -> the rule that a step hits with it."""
