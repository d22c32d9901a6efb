"""Small programs of Python's control flow, with inputs: a graph must make of tensors what Python makes of numbers."""

import importlib

from tests.autograph.programs.registry import PROGRAMS as PROGRAMS

for _part in ("branches", "functions", "loops", "returns", "statements"):
    importlib.import_module(f"{__name__}.{_part}")
