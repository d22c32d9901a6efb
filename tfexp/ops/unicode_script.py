"""The script (Latin, Greek, Han, ...) that each code point is of: UnicodeScript.

`unicode_scripts.txt` has the runs of code points of one script: where each begins, in hexadecimal, and the script's number
in ICU's enumeration (UScriptCode), -1 beyond Unicode. Facts of Unicode 15, as TensorFlow 2.21 answers them.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np

from tfexp.core.op import define_op
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array

_FILE = Path(__file__).with_name("unicode_scripts.txt")

script_op = define_op("UnicodeScript(input: int32) -> (output: int32)")
script_op.shape(lambda input: input)


@functools.cache
def runs_of_scripts() -> tuple[Array, Array]:
    """(where runs begin, their scripts), from before the first code point on."""
    pairs = [run.split(":") for run in _FILE.read_text(encoding="ascii").split()]
    starts = [np.iinfo(np.int32).min, *(int(start, 16) for start, _ in pairs)]
    return np.array(starts, np.int32), np.array([-1, *(int(script) for _, script in pairs)], np.int32)


@script_op.kernel("CPU")
def _(ctx: Any, input: Array) -> Array:
    starts, scripts = runs_of_scripts()
    return scripts[np.searchsorted(starts, input, "right") - 1]


def unicode_script(input: Any, name: str | None = None) -> Tensor:
    """The numbers of the scripts that code points are of, -1 for what is none. Source: `tf.strings.unicode_script`."""
    result: Tensor = script_op(input, name=name)
    return result
