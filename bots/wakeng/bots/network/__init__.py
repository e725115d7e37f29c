"""The value network of `net`: what its inputs mean, its weights file, and its evaluation with numpy.

Importing this package loads nothing; whoever needs numpy imports a module of it.
"""
