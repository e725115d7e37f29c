"""The commands of the arena; the `wakeng` command finds them by entry point."""
