"""What `wakeng bench` measures: the engine, the arena and the store, each beside baselines of the same run."""

from wakeng.services.bench.figures import Figure, interleave, ratio

__all__ = ["Figure", "interleave", "ratio"]
