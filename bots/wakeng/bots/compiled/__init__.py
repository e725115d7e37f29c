"""Compiled kernels of the card play of `xian`: what searches, trains and measures by the million hands.

They need numba, of the extra `search`. Nothing here reads a message or knows of the wire: a position is one small array
of integers (`state`), which a question is turned into elsewhere. What is compiled says the same as what is not, and
tests hold both together: the legal plays against the engine, the rules of `expert` against the plain bot, the network
against the one of numpy, bit by bit.
"""
