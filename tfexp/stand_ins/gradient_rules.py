"""`tensorflow.python.ops.nn_grad` and its kin: the rules of gradients under the names of their functions.

Programs that put a rule of their own in the place of an op's call the op's from within it. Source: TF 1.15.
"""

from __future__ import annotations

import re
from typing import Any

from tfexp.core.op import get_gradient


def __getattr__(name: str) -> Any:
    """`_ReluGrad` is the rule of Relu, `_SelectGradV2` that of SelectV2; it takes a node and its outputs' gradients."""
    parts = re.fullmatch(r"_(\w+)Grad(V\d)?", name)
    if parts is not None:
        try:
            rule = get_gradient(parts[1] + (parts[2] or ""))
        except LookupError:
            rule = None
        if rule is not None:
            return rule
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
