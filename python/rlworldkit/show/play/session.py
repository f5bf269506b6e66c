"""Session of games that a person plays, with or without an agent; it does not depend on a screen.

An invalid action is refused with its reason and never reaches the engine, where it might end the episode.
"""

from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten

import numpy as np

from rlparity.core.trace import write_trace
from rlparity.errors import UsageError
from rlparity.tools.rules import rule_text
from rlworldkit.agents.agent import AgentPlayer
from rlworldkit.render.panels import Obstacle
from rlworldkit.show.play.game import LINE, PlayedGame, PlayEngine, last_turn, outlook, shortened, unused
from rlworldkit.show.watch.frames import decide

NO_AGENT = "There is no agent at hand: start with --agent FILE to have one."
_LOOKING = (
    "Press an action's key to see what it would do. It is played ahead in a second",
    "game with the draws that are to come: a look knows what chance will bring.",
)
_OVER = Obstacle("the game is over", "", "game over")
_INVALID = Obstacle("it is not valid now", "", "not valid")


@dataclass(frozen=True)
class Message:
    """A message to the player, at most two lines; ``is_refusal``: whether it tells why something was not done."""

    lines: tuple[str, ...]
    is_refusal: bool = False


@dataclass(frozen=True, eq=False)
class Preview:
    """A previewed action, and the game as it would be after it; None if the action is invalid."""

    action: int
    ahead: PlayedGame | None


class PlaySession:
    """Games on one engine, one after another, from that of ``seed`` on.

    target: file of the first game, with the next games beside it; None: ``WORLD-SEED.json`` in the working directory.
    player: an agent and how it chooses; None: there is none.

    panels: of the engine. game: the current game. path: of its file. saved: verdict of each saved game, by file.
    is_looking: whether action keys preview an action instead of playing it. preview: the previewed action, if any.
    message: to the player. agent_plays: whether the agent plays. decision: the agent's; None without one or at the end.
    """

    def __init__(
        self, engine: PlayEngine, seed: int, target: Path | None = None, player: AgentPlayer | None = None
    ) -> None:
        self._engine, self._target, self.player = engine, target, player
        self.panels, self._world = engine.panels, engine.world
        self.saved: dict[Path, str] = {}
        self._begin(seed, target)

    def _begin(self, seed: int, path: Path | None = None) -> None:
        self.path = path or unused(self._target or Path(f"{self._world.name}-{seed}.json"))
        self._saved_turns = 0
        self.is_looking = self.agent_plays = False
        self.preview: Preview | None = None
        self._arrive(self._engine.start(seed))
        saving = f"Game {seed} begins. It is saved when it ends, when you leave, and now with S, in"
        self.message = Message((saving, shortened(self.path)))

    @property
    def displayed(self) -> PlayedGame:
        """Game on the board: the current one, or as it would be after the previewed action."""
        return self.preview.ahead if self.preview and self.preview.ahead else self.game

    def press(self, action: int) -> None:
        """Preview an action if ``is_looking``, else play it, taking over from the agent."""
        (self.look if self.is_looking else self.act)(action)

    def act(self, action: int) -> None:
        """Play an action; an invalid one is refused, with its reason."""
        self.agent_plays = False
        self._play(action, by_agent=False)

    def look(self, action: int) -> None:
        """Show what an action would do; the game stays as it is."""
        self.agent_plays, self.is_looking = False, True
        if reason := self.obstacle(action):
            self.preview = Preview(action, None)
            self._refuse(f"{self._world.actions[action]} cannot be played: {reason}.", reason.rules)
            return
        ahead = self._engine.look(self.game, action)
        self.preview = Preview(action, ahead)
        self.message = Message(outlook(self.panels, self.game, ahead))

    def toggle_looking(self) -> None:
        """Switch between looking at actions and playing them."""
        self.agent_plays, self.is_looking, self.preview = False, not self.is_looking, None
        self.message = Message(_LOOKING if self.is_looking else ("Action keys play again.",))

    def confirm(self) -> None:
        """Play the previewed action, if any."""
        if self.preview:
            self.act(self.preview.action)

    def toggle_agent(self) -> None:
        """Let the agent play on, or take over from the agent."""
        if self.player is None:
            self._refuse(NO_AGENT)
        elif self.game.ending:
            self._refuse(f"This game is over: N plays game {self._following}.")
        else:
            self.agent_plays, self.is_looking, self.preview = not self.agent_plays, False, None
            self.message = Message(("The agent plays on." if self.agent_plays else "It is yours again.",))

    def let_agent_act(self) -> None:
        """Play the agent's decision, if ``agent_plays``."""
        if self.agent_plays and self.decision:
            self._play(self.decision.action, by_agent=True)

    def next_game(self) -> None:
        """Start the game of the next seed if this one is over."""
        if not self.game.ending:
            self._refuse("This game goes on: q leaves it.")
            return
        self._begin(self._following)

    def save(self) -> None:
        """Save the game as it stands; the message tells where, or why that failed."""
        if not self.game.turns:
            self._refuse("Nothing is done yet, and nothing saved.")
            return
        try:
            self.keep()
        except UsageError as error:
            self._refuse(str(error))
        else:
            self.message = Message((f"Saved after step {len(self.game.turns)}:", shortened(self.path)))

    def keep(self) -> None:
        """Save the game if it has unsaved turns; raises UsageError if that fails."""
        if len(self.game.turns) > self._saved_turns:
            write_trace(self.game.trace, self.path)
            self._saved_turns = len(self.game.turns)
            self.saved[self.path] = self.game.verdict

    def _play(self, action: int, *, by_agent: bool) -> None:
        if reason := self.obstacle(action):
            self._refuse(f"{self._world.actions[action]} is refused: {reason}. The game is as it was.", reason.rules)
            return
        self.is_looking, self.preview = False, None
        self._arrive(self._engine.play(self.game, action, by_agent=by_agent))
        self.message = Message((last_turn(self.game),))
        if self.game.ending:
            self._end()

    def obstacle(self, action: int) -> Obstacle | None:
        """Return why an action is invalid; validity is the engine's mask, so a wrong reason cannot end a game."""
        game = self.game
        if game.mask[action] and not game.ending:
            return None
        return self.panels.obstacle(game.state, action) or (_OVER if game.ending else _INVALID)

    def _arrive(self, game: PlayedGame) -> None:
        self.game = game
        self.decision = None
        if self.player and not game.ending:
            seeds, steps = self._world.game_seeds(game.seed, 1), np.array([len(game.turns)])
            inputs = game.observation[None], game.mask[None], seeds, steps
            (self.decision,) = decide(self.player, *inputs, lambda: [game.state])

    def _end(self) -> None:
        self.agent_plays = False
        self.save()
        if not self.message.is_refusal:
            where = f"Saved in {shortened(self.path, 30)}. N plays game {self._following}, q leaves."
            self.message = Message((self.game.verdict, where))

    @property
    def _following(self) -> int:
        return (self.game.seed + 1) % (1 << 64)

    def _refuse(self, reason: str, rules: str = "") -> None:
        """Set a message that tells why something is not done, with the text of the last rule, the most specific one."""
        rule = rules.rpartition(", ")[2]
        texts = [shorten(f"{rule}: {rule_text(self._world, rule)}", LINE, placeholder=" …")] if rule else []
        self.message = Message((reason, *texts), is_refusal=True)
