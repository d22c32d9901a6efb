"""`python -m tfexp`: the experiment runner."""

import sys

from tfexp.experiment.cli import main

if __name__ == "__main__":
    sys.exit(main())
