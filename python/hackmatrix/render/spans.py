"""The words for what is on a board with their colours: what boards for terminals, large and compact, are made of."""

from hackmatrix.render import words
from hackmatrix.render.model import BoardModel, Cell
from hackmatrix.rules import MAX_ATTACK, MAX_HP, NUM_STAGES
from worldkit.render.spans import BAD, FAINT, GOOD, Line

_CREDITS = "yellow"
_ENERGY = "cyan"
_ENEMY_STYLES = {"virus": "bold red", "daemon": "bold yellow", "glitch": "bold magenta", "cryptog": "bold blue"}


def beings(cell: Cell) -> Line:
    """Who stands in a cell: the player, an enemy, a transmission, or a cryptog when the player saw it last."""
    spans: Line = []
    if cell.player:
        spans.append((words.PLAYER, "bold bright_white"))
    if enemy := cell.enemy:
        word = words.enemy_word(enemy)
        spans.append((word.lower(), FAINT) if enemy.hidden else (word, _ENEMY_STYLES[enemy.type]))
    if coming := cell.transmission:
        spans.append((words.transmission_word(coming), _ENEMY_STYLES[coming.type].removeprefix("bold ")))
    if cell.last_known:
        spans.append((words.LAST_KNOWN, FAINT))
    return spans


def fixtures(cell: Cell) -> Line:
    """What stands in a cell: a block, a data siphon or the exit. A question does not tell what it holds (O4)."""
    if block := cell.block:
        if block.type == "question":
            return [(f"[{words.HIDDEN_CONTENT}]", "yellow")]
        style = FAINT if cell.siphoned else "green" if block.type == "program" else "bright_blue"
        return [(words.block_word(block.content, block.spawn_count), style)]
    if cell.pickup:
        return [(words.PICKUP, "bold bright_cyan")]
    return [(words.EXIT, GOOD)] if cell.exit else []


def ground(cell: Cell) -> Line:
    """What lies in a cell, as far as the player sees it (O4), and whether it is siphoned."""
    spans: Line = []
    if cell.amounts_shown:
        spans += [(word, _CREDITS if word.startswith("$") else _ENERGY) for word in words.amount_words(cell)]
    if cell.siphoned:
        spans.append((words.SIPHONED, FAINT))
    if cell.siphon_center:
        spans.append((words.SIPHON_CENTER, FAINT))
    return spans


def numbers(model: BoardModel) -> dict[str, Line]:
    """What stands beside the cells, each in its words, in the order of the large board."""
    there = ("game won", GOOD) if model.won else (f"stage {model.stage} of {NUM_STAGES}", "bold")
    dead: Line = [(" dead", BAD)] if model.dead else []
    spawn = "none (CALM)" if model.scheduled_tasks_disabled else f"turn {model.next_scheduled_task_turn}"
    flags = (("SHOW", model.show_activated), ("CALM", model.scheduled_tasks_disabled), ("STEP", model.step_active))
    return {
        "stage": [there, (f", turn {model.turn}", "")],
        "hp": [("hp ", ""), ("♥" * model.hp + "♡" * (MAX_HP - model.hp), BAD), *dead],
        "attack": [(f"attack {model.attack_damage} of {MAX_ATTACK}", "")],
        "held": [(f"credits {model.credits}", _CREDITS), ("  ", ""), (f"energy {model.energy}", _ENERGY)],
        "siphons": [(f"data siphons {model.data_siphons}", "bright_cyan")],
        "score": [(f"score {model.score}", "")],
        "spawn": [(f"next spawn: {spawn}", "")],
        "flags": [(f"{name} {'on' if on else 'off':<4}", GOOD if on else FAINT) for name, on in flags],
    }
