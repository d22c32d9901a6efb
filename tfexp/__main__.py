"""`python -m tfexp`, and the command `tfexp`: the experiment runner."""

import os
import sys


def main() -> int:
    """As a command, too, models of one's own are found from the folder that it is given in."""
    try:
        from tfexp.experiment import cli  # most of a second, in which Ctrl-C ends the command as it does later
        from tfexp.usage import while_read
    except KeyboardInterrupt:
        print("tfexp: interrupted", file=sys.stderr)
        return 130
    try:
        here = os.getcwd()
    except FileNotFoundError:
        print("tfexp: the folder that the command is given in is not there any more", file=sys.stderr)
        return 1
    if not {"", here} & set(sys.path):
        sys.path.insert(0, here)
    return while_read(cli.main)


if __name__ == "__main__":
    sys.exit(main())
