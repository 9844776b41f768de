"""Run the command line as ``python -m release.cli``."""

from release.cli import main

main()
