"""The store's schema, step by step: each file of `versions` leads from the schema before to its own, and back."""
