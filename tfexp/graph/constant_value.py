"""What TensorFlow's Python layer knows of values while a graph is built.

Shape inference folds every pure op (`shape_inference.static_value`), but the functions and gradients that choose which
nodes to make see through a few ops only, so graphs come out as TensorFlow's only if they ask here.
"""

from __future__ import annotations

import numpy as np

from tfexp.graph.shape_inference import static_value
from tfexp.graph.tensor import Tensor

_KNOWN_BY_SHAPE = frozenset({"Shape", "Size", "Rank"})
_SEEN_THROUGH = frozenset(
    {"Const", "Identity", "StopGradient", "Range", "Cast", "Concat", "ConcatV2", "Pack", "Unpack", "Split", "Fill"}
    | {"Equal", "NotEqual"}
)


def constant_value(tensor: Tensor) -> np.ndarray | None:
    """The array that `tensor` always has where its op and those before it are simple enough to tell, else None.

    Source: `tf.get_static_value`, `tf.contrib.util.constant_value`.
    """
    pending, seen = [tensor._op], set()
    while pending:
        op = pending.pop()
        if op in seen or op.type in _KNOWN_BY_SHAPE:
            continue
        if op.type not in _SEEN_THROUGH:
            return None
        seen.add(op)
        pending.extend(source.op for source in op.inputs)
    return static_value(tensor)
