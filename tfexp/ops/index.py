"""Which modules define each op: `index.txt`, so that a family of ops is imported when one of them is first asked for.

A line is `module [module…]: Op Op …`: importing the modules registers these ops whole, gradients included. The file is
written by `python -m tests.ops.write_index`, and a test says when it is out of date.
"""

from __future__ import annotations

import os

from tfexp.core.op import define_on_first_use

PACKAGE = "tfexp.ops"
FILE = os.path.join(os.path.dirname(__file__), "index.txt")


def install() -> None:
    """Have the registry import the modules that the file names."""
    with open(FILE, encoding="utf-8") as lines:
        for line in lines:
            modules, _, names = line.partition(": ")
            define_on_first_use([f"{PACKAGE}.{module}" for module in modules.split()], names.split())
