"""Load tests of bots: tables in closed loop or decisions at a rate, what they measure, and how it is told."""

from wakeng.services.loadtest.load import Load
from wakeng.services.loadtest.plan import LoadPlan, Step
from wakeng.services.loadtest.report import report
from wakeng.services.loadtest.targets import TargetNotReady, seated

__all__ = ["Load", "LoadPlan", "Step", "TargetNotReady", "report", "seated"]
