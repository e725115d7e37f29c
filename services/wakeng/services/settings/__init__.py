"""What an arena is told: one file, the environment and flags, as frozen structs."""

from wakeng.services.settings.sources import Loaded, SettingsError, load
from wakeng.services.settings.structs import Settings
from wakeng.services.settings.table import Setting, settings_by_key

__all__ = ["Loaded", "Setting", "Settings", "SettingsError", "load", "settings_by_key"]
