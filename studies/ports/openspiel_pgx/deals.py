"""What chance brings in OpenSpiel's games: the cards, dice and tiles that pgx draws from the same seed."""

from typing import Any

import jax
import numpy as np
from board_games import BRIDGE, OpenSpielGame, functions, in_turn, refused, replayed

from rlparity.adapters import Outcome, key_of

HANDS = 52
MOST_CARDS = 2
BAR, PASS, POINTS, CHECKERS = 100, -1, 24, 15


def outcomes(state: Any) -> list[int]:
    """The possible outcomes of a chance node."""
    return [outcome for outcome, _ in state.chance_outcomes()]


def dealt(name: str, copies: int) -> Any:
    """The card of each player, then the public one; there are some copies of each rank."""

    def chance(state: Any, seed: int, _: int) -> int:
        start = functions(name)[0](key_of(seed, 0))
        cards = np.asarray(start._cards)
        order = [*in_turn(start), 2]
        card = cards[order[min(len(state.history()), MOST_CARDS)]]
        return next(each for each in outcomes(state) if each // copies == card)

    return chance


def tile(state: Any, seed: int, turn: int) -> int:
    """The next tile of 2048."""
    from pgx.play2048 import _add_random_num

    values = np.reshape(state.observation_tensor(0), 16)
    board = np.where(values > 0, np.log2(np.maximum(values, 1)), 0).astype(np.int32)
    key = key_of(seed, turn) if turn else jax.random.split(key_of(seed, 0))[np.count_nonzero(board)]
    after = np.ravel(jax.jit(_add_random_num)(board.reshape(4, 4), key))
    place = int(np.flatnonzero(after != board)[0])
    return 2 * place + int(after[place] - 1)


def bridge_seats(state: Any) -> Any:
    """The players from the dealer on, clockwise."""
    return np.asarray(state._shuffled_players)[(int(state._dealer) + np.arange(4)) % 4]


def bridge_name(seed: int) -> str:
    """OpenSpiel's bridge with the vulnerability of a deal; its North deals."""
    start = functions(BRIDGE)[0](key_of(seed, 0))
    sides = np.roll([bool(start._vul_NS), bool(start._vul_EW)], -int(start._dealer))
    return f"bridge(dealer_vul={sides[0]},non_dealer_vul={sides[1]})"


def bridge_card(state: Any, seed: int, _: int) -> int:
    """The next card of a deal, which go round from the dealer on."""
    from pgx.bridge_bidding import _convert_card_pgx_to_openspiel

    start, number = functions(BRIDGE)[0](key_of(seed, 0)), len(state.history())
    seat = (number + int(start._dealer)) % 4
    return int(_convert_card_pgx_to_openspiel(start._hand[13 * seat + number // 4]))


def roll(state: Any, seed: int, turn: int) -> tuple[int, int]:
    """The dice of a turn of backgammon."""
    from pgx.backgammon import _roll_dice

    dice = _roll_dice(key_of(seed, turn)) if turn else functions("backgammon")[0](key_of(seed, 0))._dice
    one, other = (int(die) + 1 for die in dice)
    return (one, other) if turn else (min(one, other), max(one, other))


class Backgammon(OpenSpielGame):  # type: ignore[misc] # of a module that mypy does not find
    """An action is one checker's move with one die, as in pgx: OpenSpiel takes those of two dice at once."""

    _states: list[Any]

    def _settle(self) -> None:
        state = self._states[0]
        if state.is_chance_node():
            self._dice = roll(state, self._seed, self._taken)
            text = ("" if self._taken else "X starts, ") + "(roll: {}{})".format(*self._dice)
            state.apply_action(next(each for each in outcomes(state) if state.action_to_string(each).endswith(text)))
            self._left = [*self._dice] * (1 + (self._dice[0] == self._dice[1]))
        self._played: list[int] = []
        if not state.is_terminal():
            self._mover = state.current_player()
        legal = [] if state.is_terminal() else state.legal_actions()
        self._turns = [(self._labels(action), action) for action in legal]
        self._next()

    def _labels(self, action: int) -> list[int]:
        """The moves of an action, each as pgx numbers it; from a pass on none follows."""
        moves = self._states[0].spiel_move_to_checker_moves(self._mover, action)
        labels = [0 if move.pos == PASS else self._label(move) for move in moves]
        return labels[: labels.index(0) + 1] if 0 in labels else labels

    def _label(self, move: Any) -> int:
        point = move.pos if self._mover == 0 else POINTS - 1 - move.pos
        return (1 if move.pos == BAR else point + 2) * 6 + move.num - 1

    def _next(self) -> None:
        done = len(self._played)
        following = [labels[done] for labels, _ in self._turns if labels[:done] == self._played and len(labels) > done]
        self._moves = {label: label for label in following}
        if 0 in self._moves:
            self._moves = dict.fromkeys(range(6), 0) | self._moves

    def act(self, action: int) -> Outcome:
        if action not in self._moves:
            return refused(self._shown(), 2)
        self._taken += 1
        label = 0 if action < 6 else action
        self._played.append(label)
        if label:
            self._left.remove(label % 6 + 1)
        self._next()
        is_over = self._board()[26] == CHECKERS
        whole = [
            each for labels, each in self._turns if labels == self._played or (is_over and labels[:-1] == self._played)
        ]
        if not whole or not (is_over or not self._moves):
            return Outcome(self._shown(), np.zeros(2, np.float32), False, False)
        state = self._states[0].clone()
        state.apply_action(whole[0])
        while label == 0 and not state.is_terminal() and state.current_player() == self._mover:
            state.apply_action(state.legal_actions()[0])  # the other half of a pair goes unplayed as well
        self._states = [state]
        self._settle()
        return Outcome(self._shown(), np.float32(state.returns()), state.is_terminal(), False)

    def _board(self) -> Any:
        """The position as pgx has it, from the mover's side, with the moves of a turn that is under way."""
        state, me = self._states[0], self._mover
        bar, _ = str(state).splitlines()[-2:]
        board = np.zeros(28, np.int32)
        for player, sign in ((me, 1), (1 - me, -1)):
            points = np.array([state.board(player, point) for point in range(POINTS)])
            board[:POINTS] += sign * (points if me == 0 else points[::-1])
            hit = bar.count("xo"[player])
            board[24 + (sign < 0)], board[26 + (sign < 0)] = sign * hit, sign * (CHECKERS - hit - points.sum())
        for label in self._played:
            source, die = label // 6, label % 6 + 1
            start = 24 if source == 1 else source - 2
            end = die - 1 if source == 1 else start + die if start + die < POINTS else 26
            if label:
                board[25] -= board[end] == -1
                board[start] -= 1
                board[end] += 1 + (board[end] == -1)
        return board

    def _shown(self) -> dict[str, Any]:
        is_over = self._states[0].is_terminal()
        dice = np.bincount(np.array(self._left, int) - 1, minlength=6)[:6]
        seen = np.concatenate([self._board(), dice]).astype(np.int32)
        return {"mover": np.int64(-1 if is_over else self._mover), "seen": seen}


def plays_both_dice(state: Any, action: Any) -> bool:
    """Whether after an action of BACKGAMMON two dice can be played, by the seed and the actions before."""
    from pairing import BACKGAMMON

    game = replayed(BACKGAMMON, "openspiel", state, action)
    return any(len(labels) > 1 and labels[1] for labels, _ in game._turns)


def plays_one_die(state: Any, action: Any) -> bool:
    """The reverse of ``plays_both_dice``."""
    return not plays_both_dice(state, action)
