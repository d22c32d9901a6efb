"""`python -m tests.ops.write_index`: write `tfexp/ops/index.txt` anew, after ops have come, gone or moved."""

from __future__ import annotations

import importlib
import pkgutil
from collections import defaultdict
from pathlib import Path

import tfexp.ops
from tfexp.core.op import _OPS, modules_of
from tfexp.ops.index import FILE, PACKAGE


def current() -> str:
    """What the file has to say, found by importing every module of the package."""
    for module in pkgutil.iter_modules(tfexp.ops.__path__):
        importlib.import_module(f"{PACKAGE}.{module.name}")
    names: dict[str, list[str]] = defaultdict(list)
    for name in _OPS:  # not `all_ops`, which reads the file
        modules = [module for module in modules_of(name) if module.startswith(f"{PACKAGE}.")]
        names[" ".join(module.removeprefix(f"{PACKAGE}.") for module in modules)].append(name)
    return "".join(f"{modules}: {' '.join(sorted(names[modules]))}\n" for modules in sorted(names))


if __name__ == "__main__":
    Path(FILE).write_text(current(), encoding="utf-8")
