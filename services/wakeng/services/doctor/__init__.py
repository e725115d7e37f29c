"""What is wrong with an installation, and what to do about it."""

from wakeng.services.doctor.examine import CHECKS, examine
from wakeng.services.doctor.finding import Finding, Grade

__all__ = ["CHECKS", "Finding", "Grade", "examine"]
