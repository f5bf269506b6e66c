"""Chapter V: moving and attacking."""

import pytest

from .builders import (
    DOWN,
    LEFT,
    RIGHT,
    UP,
    at,
    coming,
    credits,
    cryptog,
    daemon,
    data,
    energy,
    glitch,
    only,
    pickup,
    place_of,
    places,
    state,
    virus,
)
from .engines import Engine


@pytest.mark.parametrize(("action", "places_in_line"), [(UP, [(4, 2), (5, 2)]), (DOWN, [(1, 2), (0, 2)])])
def test_V1_the_first_one_in_the_line_is_the_target(
    engine: Engine, action: int, places_in_line: list[tuple[int, int]]
) -> None:
    near, far = places_in_line
    start = state(player=(2, 2), enemies=[daemon(*near, frozen=True), daemon(*far, frozen=True)])
    after = engine.play(start, action).state
    assert at(after["enemies"], *near)["hp"] == 2
    assert at(after["enemies"], *far)["hp"] == 3


@pytest.mark.parametrize(("action", "row", "col"), [(UP, 5, 2), (DOWN, 0, 2), (LEFT, 2, 0), (RIGHT, 2, 5)])
def test_V1_an_attack_reaches_to_the_edge_in_every_direction(engine: Engine, action: int, row: int, col: int) -> None:
    after = engine.play(state(player=(2, 2), enemies=[daemon(row, col, frozen=True)], exit=(5, 5)), action)
    assert only(after.state["enemies"])["hp"] == 2
    assert place_of(after.state["player"]) == (2, 2)


def test_V1_the_line_does_not_wrap_around_the_edge(engine: Engine) -> None:
    start = state(player=(2, 4), enemies=[daemon(3, 0, frozen=True)])
    after = engine.play(start, RIGHT).state
    assert place_of(after["player"]) == (2, 5)
    assert only(after["enemies"])["hp"] == 3


@pytest.mark.parametrize(("place", "struck"), [((3, 2), "transmission"), ((5, 2), "enemy")])
def test_V1_whoever_stands_in_front_is_the_target(engine: Engine, place: tuple[int, int], struck: str) -> None:
    start = state(player=(2, 2), transmissions=[coming("virus", *place)], enemies=[daemon(4, 2, frozen=True)])
    after = engine.play(start, UP).state
    assert len(after["transmissions"]) == (struck == "enemy")
    assert only(after["enemies"])["hp"] == 3 - (struck == "enemy")


@pytest.mark.parametrize("siphoned", [False, True])
def test_V1_a_block_stops_the_search(engine: Engine, siphoned: bool) -> None:
    start = state(
        player=(2, 2), blocks=[data(4, 2, siphoned=siphoned)], enemies=[daemon(5, 2, frozen=True)], exit=(0, 0)
    )
    after = engine.play(start, UP).state
    assert place_of(after["player"]) == (3, 2)
    assert only(after["enemies"])["hp"] == 3


def test_V1_an_enemy_on_a_block_is_a_target(engine: Engine) -> None:
    start = state(player=(2, 2), blocks=[data(4, 2)], enemies=[glitch(4, 2, frozen=True), daemon(5, 2, frozen=True)])
    after = engine.play(start, UP).state
    assert at(after["enemies"], 4, 2)["hp"] == 1
    assert at(after["enemies"], 5, 2)["hp"] == 3
    assert len(after["blocks"]) == 1
    assert place_of(after["player"]) == (2, 2)


def test_V1_a_hidden_cryptog_is_a_target(engine: Engine) -> None:
    # In the player's row it is visible by O4; that SHOW is off and its last known cell elsewhere changes nothing.
    start = state(player=(2, 2), enemies=[cryptog(2, 5, frozen=True, lastKnownRow=5, lastKnownCol=0)])
    after = engine.play(start, RIGHT).state
    assert only(after["enemies"])["hp"] == 1
    assert place_of(after["player"]) == (2, 2)


def test_V2_a_survivor_is_stunned_and_does_not_act(engine: Engine) -> None:
    after = engine.play(state(player=(2, 2), hp=3, enemies=[daemon(3, 2)]), UP)
    enemy = only(after.state["enemies"])
    assert (enemy["hp"], place_of(enemy), after.state["player"]["hp"]) == (2, (3, 2), 3)
    # The flag itself is gone again at the end of the enemy turn (E12); a skipped turn shows it.
    shown = engine.play(state(player=(2, 2), enemies=[daemon(3, 2)], stepActive=True), UP)
    assert only(shown.state["enemies"])["stunned"] is True


@pytest.mark.parametrize(("attack", "hp", "left"), [(1, 3, 2), (2, 3, 1), (3, 3, None), (2, 2, None), (3, 1, None)])
def test_V2_an_enemy_loses_the_attack_and_is_removed_at_0(
    engine: Engine, attack: int, hp: int, left: int | None
) -> None:
    after = engine.play(state(player=(2, 2), attackDamage=attack, enemies=[daemon(5, 2, hp=hp, frozen=True)]), UP)
    assert [entry["hp"] for entry in after.state["enemies"]] == ([] if left is None else [left])
    assert after.rewards.get("kills", 0) == (300 if left is None else 0)
    assert place_of(after.state["player"]) == (2, 2)


def test_V3_onto_a_pickup(engine: Engine) -> None:
    after = engine.play(state(player=(2, 2), resources=[pickup(3, 2), pickup(0, 5)]), UP)
    assert after.state["player"]["dataSiphons"] == 1
    assert places(after.state["resources"]) == [(0, 5)]
    assert after.rewards["data_siphon"] == 1000


def test_V3_a_pickup_under_an_attacked_enemy_stays(engine: Engine) -> None:
    after = engine.play(state(player=(2, 2), resources=[pickup(3, 2)], enemies=[virus(3, 2, hp=1)]), UP)
    assert after.state["player"]["dataSiphons"] == 0
    assert places(after.state["resources"]) == [(3, 2)]


def test_V3_credits_and_energy_are_not_picked_up_by_walking(engine: Engine) -> None:
    start = state(player=(2, 2), resources=[credits(3, 2, 3), energy(4, 2, 2)])
    after = engine.play(start, UP, UP)
    assert (after.state["player"]["credits"], after.state["player"]["energy"]) == (0, 0)
    assert after.state["resources"] == engine.complete(start)["resources"]


def test_V4_kills_of_scheduled_ones_do_not_count(engine: Engine) -> None:
    scheduled = {"isFromScheduledTask": True}
    for fields in (
        {"enemies": [daemon(3, 2, hp=1, **scheduled)]},
        {"transmissions": [coming("virus", 3, 2, **scheduled)]},
    ):
        after = engine.play(state(player=(2, 2), **fields), UP)
        assert after.state["enemies"] == after.state["transmissions"] == []
        assert "kills" not in after.rewards
        assert after.state["killsSinceHistory"] == 0


def test_V4_kills_of_siphon_spawned_ones_count(engine: Engine) -> None:
    after = engine.play(state(player=(2, 2), enemies=[daemon(3, 2, hp=1, spawnedFromSiphon=True)]), UP)
    assert after.rewards["kills"] == 300
    assert after.state["killsSinceHistory"] == 1
