"""The arena: matches, the store, metrics and its commands."""
