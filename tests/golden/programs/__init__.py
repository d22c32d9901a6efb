"""The golden programs, by group. Importing this package fills `PROGRAMS`."""

import importlib
import pkgutil

from tests.golden.programs.registry import PROGRAMS, Program

for _module in sorted(module.name for module in pkgutil.iter_modules(__path__)):
    importlib.import_module(f"{__name__}.{_module}")

__all__ = ["PROGRAMS", "Program"]
