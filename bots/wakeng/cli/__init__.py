"""The `wakeng` command."""
