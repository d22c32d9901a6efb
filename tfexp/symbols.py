"""`python -m tfexp.symbols [namespace …]`: which of TensorFlow 1.15's public names tfexp has.

Without arguments a line for each namespace: how many of its names are here, and those that are not. With namespaces
(`tf.nn`), every name of theirs, one to a line, with a mark; those of `tf.compat.v2` are TensorFlow 2.0's. Found by looking,
not from a list kept by hand. What TensorFlow has in `tf.contrib` is not counted: what is here is shown.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterable

import tfexp
from tfexp.core.gone import public_symbols
from tfexp.experiment.errors import no_such
from tfexp.usage import while_read

VERSION_2 = "tf.compat.v2"


def has(symbol: str) -> bool:
    """Whether tfexp answers for a public name (`tf.nn.relu`)."""
    found: object = tfexp
    for part in symbol.split(".")[1:]:
        try:
            found = getattr(found, part)
        except AttributeError:
            return False
    return True


def by_namespace(symbols: Iterable[str]) -> dict[str, dict[str, bool]]:
    """namespace -> {name in it: whether tfexp has it}."""
    groups: dict[str, dict[str, bool]] = defaultdict(dict)
    for symbol in symbols:
        namespace, _, name = symbol.rpartition(".")
        groups[namespace][name] = has(symbol)
    return dict(groups)


def is_uncounted(namespace: str) -> bool:
    """Whether TensorFlow's names in a namespace are not in the list."""
    return namespace.split(".")[:2] == ["tf", "contrib"]


def here(namespace: str) -> list[str]:
    """The names that tfexp has in a namespace, those of further namespaces included."""
    from tfexp.documented import documented, namespaces

    within = (space.removeprefix(f"{namespace}.") for space in namespaces() if space.startswith(f"{namespace}."))
    return sorted({*documented().get(namespace, ()), *(name.partition(".")[0] for name in within)})


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tfexp.symbols", description="TensorFlow 1.15's public names in tfexp.")
    parser.add_argument("namespaces", nargs="*", metavar="namespace", help="for example tf.nn; default: an overview of all")
    words = parser.parse_args(argv).namespaces
    wanted = [word if word.partition(".")[0] == "tf" else f"tf.{word}" for word in words]
    second = [symbol.replace("tf", VERSION_2, 1) for symbol in public_symbols("2.0")]
    groups = by_namespace([*public_symbols(), *(second if any(name.startswith(VERSION_2) for name in wanted) else [])])
    unknown = [namespace for namespace in wanted if namespace not in groups and not is_uncounted(namespace)]
    if unknown:
        print(f"tfexp.symbols: of TensorFlow 1.15, {no_such('namespace', unknown[0], groups)}", file=sys.stderr)
        return 2
    if wanted:
        for namespace in wanted:
            names = dict.fromkeys(here(namespace), True) if is_uncounted(namespace) else groups[namespace]
            for name, is_here in names.items():
                print(f"{'+' if is_here else '-'} {namespace}.{name}")
            if not names:
                print(f"nothing of {namespace}")
        return 0
    width = max(map(len, groups))
    for namespace, names in groups.items():
        missing = [name for name, is_here in names.items() if not is_here]
        line = f"{namespace:{width}}  {len(names) - len(missing):4} of {len(names):4}"
        print(f"{line}   missing: {' '.join(missing)}" if missing else line)
    total = [is_here for names in groups.values() for is_here in names.values()]
    print(f"{'in all':{width}}  {sum(total):4} of {len(total):4}")
    return 0


if __name__ == "__main__":
    sys.exit(while_read(main))
