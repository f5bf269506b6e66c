"""Names and orders of HackMatrix, and the sizes that follow from them (A, P, W, O, S).

All Python code takes the counts of programs, actions, components and features from here. Costs, prices and divisors are
not here: each engine has its own, so that a comparison of the engines can find a wrong one.
"""

VERSION = "1"
"""Version of the rules; it changes whenever the same seed and actions could give another game."""

SIZE = 6
"""Rows and columns of the board (A1)."""
NUM_CELLS = SIZE * SIZE
CORNERS = (0, SIZE - 1, NUM_CELLS - SIZE, NUM_CELLS - 1)
DIRECTIONS = ((1, 0), (-1, 0), (0, -1), (0, 1))
"""Up, down, left, right as (rows, columns), which are also the moves 0-3 (A2)."""

MAX_HP = 3
MAX_ATTACK = 3
NUM_STAGES = 8
WON_STAGE = NUM_STAGES + 1
"""The stage of a won game (C3)."""

ENEMIES = ("virus", "daemon", "glitch", "cryptog")
BLOCKS = ("data", "program", "question")

MOVES = ("up", "down", "left", "right")
PROGRAMS = tuple(
    "PUSH PULL CRASH WARP POLY WAIT DEBUG ROW COL UNDO STEP SIPH+ EXCH SHOW RESET CALM D_BOM DELAY ANTI-V SCORE "
    "REDUC ATK+ HACK".split()
)
"""Programs in the order of table P."""
NUM_PROGRAMS = len(PROGRAMS)
ACTIONS = (*MOVES, "siphon", *PROGRAMS)
NUM_ACTIONS = len(ACTIONS)
SIPHON = ACTIONS.index("siphon")
"""The siphon action; lower actions are moves, higher ones programs."""
FIRST_PROGRAM = SIPHON + 1
ACTION_KINDS = ("move", "siphon", "program")

COMPONENTS = tuple(
    "step_penalty stage_completion score_gain kills data_siphon distance_shaping victory death_penalty resource_gain "
    "resource_holding damage_penalty hp_recovery siphon_quality siphon_death_penalty program_waste".split()
)
"""Components of the reward, in the order of table W; integers in thousandths."""
COMPONENT_UNIT = 0.001

FACTS = ("stage", "score", "hp", "turn")
"""Numbers of a game that an engine returns besides the observation."""
EVENTS = ("invalid_action", "stage_complete", "death", "victory")
"""Events of a step; event *i* is bit *i* of the flags of the protocol."""

PLAYER_NUMBERS = ("hp", "credits", "energy", "dataSiphons", "attackDamage", "score")
STAGE_FIELDS = tuple(
    "stage turn showActivated scheduledTasksDisabled stepActive atkPlusUses scheduledTaskInterval "
    "nextScheduledTaskTurn pendingSiphonTransmissions closestApproach".split()
)
STATE_FIELDS = (
    *"player enemies transmissions blocks resources siphoned siphonCenters exit ownedPrograms".split(),
    *STAGE_FIELDS,
    *"seed eventNumber killsSinceHistory pickupsSinceHistory history".split(),
)
"""The keys of a complete state (S of the protocol), after those of its player and of its stage that hold one value."""

PLAYER_FEATURES = tuple(
    "row col hp credits energy stage dataSiphons attack showActivated scheduledTasksDisabled".split()
)
"""Features of the player (O1)."""
CELL_FEATURES = (
    *ENEMIES,
    *("enemyHP", "stunned", "fromSiphon"),
    *BLOCKS,
    *("points", "siphoned"),
    *(f"block:{name.lower()}" for name in PROGRAMS),
    *("spawn", "transmissionTurns", "credits", "energy", "pickup", "exit", "siphonCentre"),
)
"""Features of a cell (O3)."""
GRID_SHAPE = (SIZE, SIZE, len(CELL_FEATURES))
_BEFORE_GRID = len(PLAYER_FEATURES) + NUM_PROGRAMS
OBSERVATION_SIZE = _BEFORE_GRID + NUM_CELLS * len(CELL_FEATURES)
PLAYER_PART = slice(0, len(PLAYER_FEATURES))
PROGRAM_PART = slice(len(PLAYER_FEATURES), _BEFORE_GRID)
GRID_PART = slice(_BEFORE_GRID, OBSERVATION_SIZE)
"""The parts of an observation: O1, O2 and O3."""


def observation_label(place: tuple[int, ...]) -> str:
    """Name one number of the observation (O1-O3), such as ``owns WARP`` or ``cell (2,3) enemyHP``."""
    (index,) = place
    if index < PLAYER_PART.stop:
        return f"player {PLAYER_FEATURES[index]}"
    if index < GRID_PART.start:
        return f"owns {PROGRAMS[index - PROGRAM_PART.start]}"
    cell, feature = divmod(index - GRID_PART.start, len(CELL_FEATURES))
    return f"cell ({cell // SIZE},{cell % SIZE}) {CELL_FEATURES[feature]}"


_MARKS = (
    *(
        "A7.saturated B1.credits B1.energy B1.siphon B2 B2.survivors B3 B3.occupied B4 B4.fewer B5.data "
        "B5.program B5.questionData B5.questionProgram B6.valid B6.redrawn B6.exhausted B7.credits "
        "B7.energy B8 C1.invalid C2.turnEnds C2.turnStays C3.move C3.warp C3.fullHP C3.victory C4.death "
        "C4.victory C4.invalid C4.afterEnd C5 C6.covered C6.exposed C6.dropped M1.open M1.enemyOnBlock "
        "M1.edge M1.block M2.held M2.none M3.applicable M3.notOwned M3.tooDear M3.notApplicable "
        "V1.adjacent V1.distant V1.blockStops V1.cryptog V2.transmission V2.stunned V2.removed V3.moved "
        "V3.pickup V4.kill V4.scheduled S1.skipped S1.edge S2.data S2.program S2.alreadyOwned "
        "S2.question S2.ownCell S3.credits S3.energy S3.pickupStays S4.centre S4.centreAgain S5 S5.floor "
        "P-PUSH.moved P-PUSH.stayed P-PUSH.edge P-PUSH.ontoBlock P-PULL.moved P-PULL.stayed "
        "P-PULL.adjacent P-PULL.ontoBlock P-CRASH.block P-CRASH.enemy P-CRASH.transmission P-WARP.enemy "
        "P-WARP.transmission P-WARP.block P-WARP.exit P-WARP.pickup P-POLY.changed P-POLY.removed "
        "P-POLY.cryptog P-WAIT P-DEBUG P-ROW P-COL P-UNDO P-UNDO.record P-UNDO.unpaid P-STEP P-SIPH+ "
        "P-EXCH P-SHOW P-RESET P-CALM P-D_BOM P-D_BOM.tie P-D_BOM.blast P-DELAY P-ANTI-V P-SCORE P-REDUC "
        "P-ATK+ P-HACK P-HACK.hit E1 E2 E3.enemy E3.cryptog E3.waiting E4.oneRound E4.twoRounds "
        "E4.disabled E4.stunned E4.attacked E4.tooSlow E5.attack E5.lethal E5.afterDeath E6.path "
        "E6.several E6.cryptog E6.glitch E7.noPath E7.moved E7.several E8.moved E8.stayed E9 E10.spawned "
        "E10.dropped E10.calm E11 E12.disabled E12.stunned W1.closer W1.noPath W1.completed W1.death "
        "W2.missed W2.best W2.onBlock W3.kills W3.pickups W3.distance O1.capped O2 O3.enemy "
        "O3.transmission O3.block O3.resource O3.pickup O3.siphonCentre O4.hiddenCryptog O4.shownCryptog "
        "O4.question O4.coveredResource O4.uncoveredResource R3 R3.wrapped R5.below R5.cell R5.distinct "
        "R5.order R6"
    ).split(),
    *(f"W.{name}" for name in COMPONENTS),
)

MARKS = {name: name.split(".")[0] for name in _MARKS}
"""Mark -> rule id: both engines count these, in this order."""

RULES = tuple(dict.fromkeys(MARKS.values()))
"""The rule ids that can fire; A1-A6, R1, R2 and R4 are only definitions."""
