"""`python -m tfexp`, and the command `tfexp`: the experiment runner."""

import os
import sys

from tfexp.core.loading import EndedByCtrlC

with EndedByCtrlC():
    from tfexp.experiment import cli
    from tfexp.usage import while_read


def main() -> int:
    """As a command, too, models of one's own are found from the folder that it is given in."""
    if not {"", os.getcwd()} & set(sys.path):
        sys.path.insert(0, os.getcwd())
    return while_read(cli.main)


if __name__ == "__main__":
    sys.exit(main())
