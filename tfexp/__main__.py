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
    if not {"", os.getcwd()} & set(sys.path):
        sys.path.insert(0, os.getcwd())
    return while_read(cli.main)


if __name__ == "__main__":
    sys.exit(main())
