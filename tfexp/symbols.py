"""`python -m tfexp.symbols [namespace …]`: the public names of tfexp.

Without arguments a line for each namespace, with the number of its names; with namespaces (`tf.nn`), their names.
"""

from __future__ import annotations

import argparse
import sys

from tfexp.documented import documented, namespaces
from tfexp.experiment.errors import no_such
from tfexp.usage import while_read


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tfexp.symbols", description="The public names of tfexp.")
    parser.add_argument("namespaces", nargs="*", metavar="namespace", help="for example tf.nn; default: an overview of all")
    words = parser.parse_args(argv).namespaces
    wanted = [word if word.partition(".")[0] == "tf" else f"tf.{word}" for word in words]
    for namespace in wanted:
        if namespace not in namespaces():
            print(f"tfexp.symbols: {no_such('namespace', namespace, namespaces())}", file=sys.stderr)
            return 2
    width = max(map(len, namespaces()))
    for namespace in wanted:
        for name in documented().get(namespace, ()):
            print(f"{namespace}.{name}")
    if not wanted:
        for namespace in namespaces():
            print(f"{namespace:{width}}  {len(documented().get(namespace, ())):4}")
    return 0


if __name__ == "__main__":
    sys.exit(while_read(main))
