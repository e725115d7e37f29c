"""Simulated bots of known strength: whether the statistics hold what they promise (docs/statistics.md 13)."""

from wakeng.services.tournament.simulation.report import Progress, SimulationReport, simulate

__all__ = ["Progress", "SimulationReport", "simulate"]
