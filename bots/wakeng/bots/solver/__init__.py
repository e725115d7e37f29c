"""The open-card solver: for tests and analysis, never for a seat at a table. It needs numba, of the extra `search`."""

from wakeng.bots.solver.solver import NODE_LIMIT, Ending, Solver, Unsolvable, ending_of

__all__ = ["NODE_LIMIT", "Ending", "Solver", "Unsolvable", "ending_of"]
