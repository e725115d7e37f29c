"""`python -m wakeng.cli`: the command, of the very interpreter that runs it."""

from wakeng.cli.main import main

main()
