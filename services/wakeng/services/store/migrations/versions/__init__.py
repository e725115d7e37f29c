"""One module a step, named by its number and written by hand; tests hold that the last leads to the tables."""
