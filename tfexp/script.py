"""`python -m tfexp.script file.py args…`: run an unmodified TensorFlow 1 script on tfexp.

Inside the script `import tensorflow as tf` (also `tensorflow.compat.v1`) is tfexp; `sys.argv`, `__name__` and where modules
are looked for are what `python file.py args…` would give it. Processes that the script starts find tfexp, too.
NumPy has the names of Python's types again that it had in those days (`np.float`).

`-m module args…` runs a module as `python -m module args…` does.
"""

from __future__ import annotations

import builtins
import importlib.util
import runpy
import sys
from pathlib import Path

import numpy as np

from tfexp import as_tensorflow
from tfexp.usage import helped

_USAGE = "usage: python -m tfexp.script [-m module | file.py] [args ...]"


def main(argv: list[str] | None = None) -> int:
    """Run the script or module that the arguments name; the exit status is the script's, 2 when there is none to run."""
    arguments = sys.argv[1:] if argv is None else argv
    if (code := helped(arguments, _USAGE, __doc__, needs_words=True)) is not None:
        return code
    if arguments[0] == "-m":
        return _run_module(arguments[1:])
    script = Path(arguments[0])
    if not script.is_file():
        print(f"tfexp.script: there is no file {str(script)!r}\n{_USAGE}", file=sys.stderr)
        return 2
    _prepare()
    sys.argv = [str(script), *arguments[1:]]
    sys.path[0] = str(script.parent.resolve())
    runpy.run_path(str(script), run_name="__main__")
    return 0


def _prepare() -> None:
    as_tensorflow.install(for_children=True)
    for name in ("bool", "int", "float", "complex", "object", "str"):  # which NumPy had in TensorFlow 1's days
        if name not in vars(np):
            setattr(np, name, getattr(builtins, name))


def _run_module(arguments: list[str]) -> int:
    if not arguments:
        print(f"tfexp.script: -m needs the name of a module\n{_USAGE}", file=sys.stderr)
        return 2
    package = arguments[0].partition(".")[0]
    if not package or importlib.util.find_spec(package) is None:
        print(f"tfexp.script: there is no module {arguments[0]!r}\n{_USAGE}", file=sys.stderr)
        return 2
    _prepare()
    sys.argv = arguments
    runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
