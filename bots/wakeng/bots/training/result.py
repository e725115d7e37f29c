"""A finished run as a weights file, with the record of the run and what the network gains over `expert`."""

from typing import Any

import numpy as np

from wakeng.bots.network import layout
from wakeng.bots.network.weights import Weights, quantised
from wakeng.bots.training.checkpoint import Checkpoint
from wakeng.bots.training.learner import Net, fresh
from wakeng.bots.training.measure import over_expert
from wakeng.engine import PRESETS

MEASURED_DEALS = 2_000


def weights_of(state: Checkpoint) -> Weights:
    """The network of a run as it goes into a file. Rows that no position ever used still are as they began: zero."""
    began = fresh(state.seed).first
    first = np.where((state.net.first == began).all(axis=2, keepdims=True), np.float32(0), state.net.first)
    rows, scale = quantised(first)
    kept = state.net._replace(first=rows.astype(np.float32) * scale[:, None])
    return Weights(
        PRESETS["xian"], _record(state, kept), rows, scale, state.net.first_bias, state.net.second,
        state.net.second_bias, state.net.last, state.net.last_bias,
    )  # fmt: skip


def _record(state: Checkpoint, kept: Net) -> dict[str, Any]:
    """The run, and the strength of the network as the file keeps it."""
    points, error = over_expert(kept, MEASURED_DEALS)
    asked = {"hands": state.hands} if state.minutes is None else {"minutes": state.minutes}
    record: dict[str, Any] = {
        **asked,
        "seed": state.seed,
        "features": layout.VERSION,
        "stages": [
            {"hands": hands, "samples": samples}
            for hands, samples in zip(state.tally.hands, state.tally.samples, strict=True)
        ],
        "over_expert": {"deals": MEASURED_DEALS, "points": round(points, 3), "error": round(error, 3)},
    }
    if state.earlier:
        record["lengthened_from"] = state.earlier
    if state.minutes is not None:
        record["seconds"] = round(state.tally.seconds)
    return record
