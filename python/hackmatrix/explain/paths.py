"""W1's path distance, by a plain breadth-first search."""

from hackmatrix.explain.transition import around, place_of, places
from parity import State


def exit_distance(state: State) -> int | None:
    """Steps from the player to the exit around blocks, enemies not counting; None without a path (W1)."""
    goal = place_of(state["exit"])
    closed = places(state["blocks"]) - {goal}
    reached = frontier = {place_of(state["player"])}
    distance = 0
    while frontier:
        if goal in frontier:
            return distance
        frontier = {near for place in frontier for near in around(place)} - closed - reached
        reached = reached | frontier
        distance += 1
    return None
