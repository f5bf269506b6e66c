"""Every game that OpenSpiel and pgx have, as boards, hands and dice that both show to each player."""

from typing import Any

import deals
import numpy as np
from board_games import OpenSpielGame, PgxGame, in_turn
from notation import chess_board, chess_label, pieces, shogi_board, shogi_label

from rlparity import World
from rlparity.adapters.pairing import Pairing


def world(name: str, spiel: str, shape: tuple[int, ...], actions: int, show: Any, read: Any, **options: Any) -> World:
    """A game of both; ``show`` and ``read`` as ``OpenSpielGame`` and ``PgxGame`` have them."""
    players, seats = options.pop("players", 2), options.pop("seats", in_turn)
    draws = "chance" in options or "game" in options
    game, title = options.pop("game", OpenSpielGame), options.pop("title", name)
    games = {
        "openspiel": lambda: game(spiel, actions, show, **options),
        "pgx": lambda: PgxGame(name, read, seats),
    }
    seen: Any = {"mover": (), "seen": shape}
    return Pairing(title, games, tuple(map(str, range(actions))), seen, players=players, draws=draws).world()


def planes(states: list[Any], shape: tuple[int, ...]) -> Any:
    """What OpenSpiel shows the first player of the present state."""
    return np.reshape(states[0].observation_tensor(0), shape)


def stones(first: int, second: int, shape: tuple[int, ...], flip: int = 1) -> Any:
    """Reads the stones of both players from two of OpenSpiel's planes."""
    return lambda states: (planes(states, shape)[first] - planes(states, shape)[second])[::flip].astype(np.int8)


def seen_stones(views: Any, _: Any) -> Any:
    """Reads the stones of both players from pgx."""
    return pieces(views[0], 0, 1, 1)


def go_planes(size: int) -> Any:
    """Reads pgx's planes from the last positions of OpenSpiel: own and others' stones of each, and the colour."""

    def show(states: list[Any]) -> Any:
        shown = np.zeros((2, size, size, 17), bool)
        for back, state in enumerate(states[: len(states) - (len(states[-1].history()) == 0)]):
            black, white = planes([state], (4, size, size))[:2]
            for player, own in enumerate(((black, white), (white, black))):
                shown[player, ..., 2 * back], shown[player, ..., 2 * back + 1] = own
        shown[1, ..., -1] = True
        return shown

    return show


def poker_views(copies: int, chips: int, ante: int) -> Any:
    """Reads what pgx shows each player: the own card, the public one if there is one, own and the other's chips."""

    def show(states: list[Any]) -> Any:
        views = []
        for player in (0, 1):
            told = np.array(states[0].observation_tensor(player))
            cards, spent = told[2:-2].reshape(-1, 3, copies).sum(axis=2), told[-2:].astype(int) - ante
            views.append([*cards.ravel(), *np.eye(chips)[spent[player]], *np.eye(chips)[spent[1 - player]]])
        return np.array(views).astype(bool)

    return show


def numbered(label: Any) -> Any:
    """The legal moves of OpenSpiel by pgx's numbers."""
    return lambda state: {label(each): each for each in state.legal_actions()}


def chess_moves(state: Any) -> Any:
    """The legal moves of OpenSpiel by pgx's numbers."""
    import pyspiel
    from pgx._src.games.chess import TO_PLANE

    white, table = state.current_player() == 1, np.asarray(TO_PLANE)
    moves = ((each, pyspiel.chess.action_to_move(each, state.board()).to_lan()) for each in state.legal_actions())
    return {chess_label(text, white, 8, table): each for each, text in moves}


def bridge_view(states: list[Any]) -> Any:
    """What OpenSpiel shows who is to call: vulnerability, calls and hand; nothing at the end."""
    player = states[0].current_player()
    return np.array(states[0].observation_tensor(player)[4:484] if player >= 0 else np.zeros(480)).astype(bool)


def view(views: Any, _: Any) -> Any:
    """Reads all that pgx shows."""
    return views


TIC_TAC_TOE = world("tic_tac_toe", "tic_tac_toe", (3, 3), 9, stones(2, 1, (3, 3, 3)), seen_stones)
CONNECT_FOUR = world("connect_four", "connect_four", (6, 7), 7, stones(0, 1, (3, 6, 7), -1), seen_stones)
OTHELLO = world("othello", "othello", (8, 8), 65, stones(1, 2, (3, 8, 8)), seen_stones)
HEX = world("hex", "hex(swap=True,plain_obs_tensor=True)", (11, 11), 122, stones(0, 1, (3, 11, 11)), seen_stones)
GO = world("go_9x9", "go(board_size=9)", (2, 9, 9, 17), 82, go_planes(9), view)
GO_19 = world("go_19x19", "go", (2, 19, 19, 17), 362, go_planes(19), view)
KUHN_POKER = world(
    "kuhn_poker",
    "kuhn_poker",
    (2, 7),
    2,
    poker_views(1, 2, 1),
    view,
    chance=deals.dealt("kuhn_poker", 1),
    moves=numbered(lambda each: 1 - each),
)
LEDUC_POKER = world(
    "leduc_holdem",
    "leduc_poker",
    (2, 34),
    3,
    poker_views(2, 14, 0),
    view,
    chance=deals.dealt("leduc_holdem", 2),
    moves=numbered(lambda each: (each - 1) % 3),
)
TILES = world(
    "2048",
    "2048",
    (4, 4),
    4,
    lambda states: planes(states, (4, 4)).astype(np.int64),
    lambda views, _: (2 ** views[0].argmax(axis=-1)) * (1 - views[0][..., 0]),
    chance=deals.tile,
    moves=numbered(lambda each: (each + 1) % 4),
    players=1,
    seats=lambda _: np.int64(0),
)
BRIDGE = world(
    "bridge_bidding",
    deals.bridge_name,
    (480,),
    38,
    bridge_view,
    lambda views, state: np.zeros(480, bool) if state.terminated else np.asarray(state.observation),
    chance=deals.bridge_card,
    moves=numbered(lambda each: each - deals.HANDS),
    players=4,
    seats=deals.bridge_seats,
)
BACKGAMMON = world(
    "backgammon",
    "backgammon(scoring_type=full_scoring)",
    (34,),
    156,
    None,
    lambda views, _: views.max(axis=0),
    game=deals.Backgammon,
)
CHESS = world(
    "chess",
    "chess",
    (8, 8),
    4672,
    lambda states: chess_board(str(states[0])),
    lambda views, _: pieces(views[0], 0, 6, 6),
    moves=chess_moves,
)
SHOGI = world(
    "shogi",
    "shogi",
    (9, 9),
    2187,
    lambda states: shogi_board(str(states[0]))[0],
    lambda views, _: pieces(views[0], 0, 31, 14),
    moves=lambda state: {
        shogi_label(state.action_to_string(each), state.current_player() == 0): each for each in state.legal_actions()
    },
)
HEX_AS_SHIPPED = world(
    "hex", "hex(plain_obs_tensor=True)", (11, 11), 122, stones(0, 1, (3, 11, 11)), seen_stones, title="hex-as-shipped"
)
