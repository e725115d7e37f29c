"""Other people's simulators of a like game, driven from Python as theirs are: dou dizhu of OpenSpiel and of RLCard."""

from collections.abc import Callable
from importlib import import_module
from random import Random
from typing import Any

Playout = Callable[[], int]
"""Plays a hand at random and says how many decisions it had, chance's not counted."""


def openspiel(random: Random) -> Playout:
    """Legal actions asked for, one taken, applied; dealing is such actions too, of chance. ImportError if not there."""
    game: Any = import_module("pyspiel").load_game("dou_dizhu")
    draw = random.random

    def play() -> int:
        state = game.new_initial_state()
        while state.is_chance_node():
            cards = state.legal_actions()
            state.apply_action(cards[int(draw() * len(cards))])
        decisions = 0
        while not state.is_terminal():
            legal = state.legal_actions()
            state.apply_action(legal[int(draw() * len(legal))])
            decisions += 1
        return decisions

    return play


def rlcard(random: Random) -> Playout:
    """The environment's reset and step, an action taken of those the state names. ImportError if not there."""
    environment: Any = import_module("rlcard").make("doudizhu", config={"seed": random.randrange(1 << 31)})
    draw = random.random

    def play() -> int:
        state, _ = environment.reset()
        decisions = 0
        while not environment.is_over():
            legal = list(state["legal_actions"])
            state, _ = environment.step(legal[int(draw() * len(legal))])
            decisions += 1
        return decisions

    return play
