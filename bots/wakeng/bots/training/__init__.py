"""How the network of `net` is trained: hands played against itself by the million, on one core."""
