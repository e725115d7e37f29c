"""The state of a training run on disk, whole or not at all: a killed run goes on as if nothing had happened."""

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from wakeng.bots.compiled.cards import Ints
from wakeng.bots.compiled.chance import State
from wakeng.bots.network import layout
from wakeng.bots.training.learner import Net

FORMAT: Final = 1


class CheckpointError(ValueError):
    """The file is no checkpoint of this version's; the message says what is wrong."""


@dataclass(slots=True)
class Tally:
    """What was done so far. `seconds` is time at work, over all parts of a run that was interrupted."""

    seconds: float = 0.0
    hands: list[int] = field(default_factory=lambda: [0, 0])
    samples: list[int] = field(default_factory=lambda: [0, 0])


@dataclass(slots=True)
class Checkpoint:
    """All that a run is: what was asked, what was done, the network, the random source and the order of the deck."""

    minutes: float | None
    hands: int | None
    seed: int
    tally: Tally
    net: Net
    chance: State
    deck: Ints
    earlier: list[float] = field(default_factory=list)
    """The minutes or hands that were asked at first, where a finished run was lengthened."""

    def lengthen(self, *, minutes: float | None, hands: int | None) -> None:
        """Ask for more of what the run is measured in; ValueError where that is no more."""
        unit = "minutes" if self.hands is None else "hands"
        asked, more = (self.minutes, minutes) if self.hands is None else (self.hands, hands)
        assert asked is not None
        if more is None or more <= asked:
            raise ValueError(f"the run has {asked:g} {unit}; it goes on for more {unit} than that, or as it is")
        self.earlier.append(asked)
        self.minutes, self.hands = minutes, hands

    def save(self, path: Path) -> None:
        """Write it beside the old one, then put it in its place."""
        about = {
            "format": FORMAT,
            "features": layout.VERSION,
            "minutes": self.minutes,
            "hands": self.hands,
            "seed": self.seed,
            "earlier": self.earlier,
            "tally": asdict(self.tally),
        }
        beside = path.with_name(path.name + ".new")
        with beside.open("wb") as file:
            np.savez(file, about=json.dumps(about), chance=self.chance, deck=self.deck, **self.net._asdict())
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)


def load(path: Path) -> Checkpoint:
    """The run that a file holds; CheckpointError if it holds none."""
    try:
        with np.load(path, allow_pickle=False) as held:
            about: dict[str, Any] = json.loads(str(held["about"]))
            net = Net(*(held[name] for name in Net._fields))
            chance, deck = held["chance"], held["deck"]
    except (OSError, ValueError, KeyError, EOFError) as problem:
        raise CheckpointError(f"{path} is no checkpoint of a training run ({problem})") from None
    if (about.get("format"), about.get("features")) != (FORMAT, layout.VERSION):
        raise CheckpointError(f"{path} is of another version; begin the training anew")
    tally = Tally(**about["tally"])
    earlier = about.get("earlier", [])
    return Checkpoint(about["minutes"], about["hands"], about["seed"], tally, net, chance, deck, earlier)
