"""Decorators that trace tests, and other parts of `tensorflow.python.framework.test_util`. Source: TF 1.15."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from absl.testing import parameterized

from tfexp.core import nest
from tfexp.functions.function import function
from tfexp.graph.graph import Graph
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import reshape
from tfexp.ops.array_order import transpose
from tfexp.ops.py_func import py_function
from tfexp.runtime.eager import eager_mode
from tfexp.runtime.testing_modes import as_decorator, only_for_methods
from tfexp.stand_ins.framework_ops import inside_function


def also_run_as_tf_function(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f` runs eagerly, and once more as a function that is traced, as it is written."""

    @functools.wraps(f)
    def run(*args: Any, **kwargs: Any) -> None:
        with eager_mode():
            f(*args, **kwargs)
            function(lambda: f(*args, **kwargs), autograph=False)()

    return run


def build_as_function_and_v1_graph(func: Any = None) -> Any:
    """A method of absl's parameterized tests becomes two: in a graph of its own, and in that of a function."""

    def wrap(method: Any) -> Any:
        only_for_methods("build_as_function_and_v1_graph", method)

        @parameterized.named_parameters(("_v1_graph", False), ("_function", True))
        @functools.wraps(method)
        def run(self: Any, traced: bool, *args: Any, **kwargs: Any) -> None:
            with Graph().as_default(), eager_mode() if traced else contextlib.nullcontext():
                body = functools.partial(method, self, *args, **kwargs)
                (function(lambda: body()) if traced else body)()

        return run

    return as_decorator(wrap, func)


def use_deterministic_cudnn(func: Callable[..., Any]) -> Callable[..., Any]:
    """The test runs with the environment's TF_CUDNN_DETERMINISTIC as "true"."""

    @functools.wraps(func)
    def run(*args: Any, **kwargs: Any) -> Any:
        before = os.environ.get("TF_CUDNN_DETERMINISTIC", "")
        os.environ["TF_CUDNN_DETERMINISTIC"] = "true"
        try:
            return func(*args, **kwargs)
        finally:
            os.environ["TF_CUDNN_DETERMINISTIC"] = before

    return run


def py_func_if_in_function(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f`, by `tf.py_function` where a function is being built: its tensors have values then."""

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        if not inside_function():
            return f(*args, **kwargs)
        leaves = nest.flatten([args, kwargs])
        places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]

        def with_values(*values: Any) -> Any:
            whole = list(leaves)
            for place, value in zip(places, values, strict=True):
                whole[place] = value
            their_args, their_kwargs = nest.pack_sequence_as([args, kwargs], whole)
            return f(*their_args, **their_kwargs)

        return py_function(with_values, [leaves[place] for place in places], [])

    return decorated


def set_producer_version(graph: Any, producer_version: int) -> None:
    """Have an empty graph say that a TensorFlow of that GraphDef version made it."""
    graph._versions.producer = producer_version


def _combine_named_parameters(**kwargs: Any) -> list[OrderedDict[str, Any]]:
    """Every combination of the arguments' values, the first by name varying slowest; a value may be alone."""
    keys = sorted(kwargs)
    values = [value if isinstance(value, (list, tuple)) else [value] for value in (kwargs[key] for key in keys)]
    return [OrderedDict(zip(keys, chosen, strict=True)) for chosen in itertools.product(*values)]


# --- channels in vectors of four ------------------------------------------------------------------------------------------


def NHWCToNCHW_VECT_C(input_shape_or_tensor: Any) -> Any:
    """[n, …, c], a tensor or the list of its sizes, as [n, c / 4, …, 4]; ValueError where 4 does not divide c."""
    sizes = _sizes(input_shape_or_tensor)
    if sizes[-1] % 4:
        raise ValueError(f"The last dimension is to be a multiple of 4, not {sizes[-1]}")
    if not isinstance(input_shape_or_tensor, Tensor):
        return [sizes[0], sizes[-1] // 4, *sizes[1:-1], 4]
    n = len(sizes)
    split = reshape(input_shape_or_tensor, [*sizes[:-1], sizes[-1] // 4, 4])
    return transpose(split, [0, n - 1, *range(1, n - 1), n])


def NCHW_VECT_CToNHWC(input_shape_or_tensor: Any) -> Any:
    """[n, c / 4, …, 4], a tensor or the list of its sizes, as [n, …, c]; ValueError where the last size is not 4."""
    sizes = _sizes(input_shape_or_tensor)
    if sizes[-1] != 4:
        raise ValueError(f"The last dimension is to be 4, not {sizes[-1]}")
    whole = [sizes[0], *sizes[2:-1], sizes[1] * 4]
    if not isinstance(input_shape_or_tensor, Tensor):
        return whole
    n = len(sizes)
    return reshape(transpose(input_shape_or_tensor, [0, *range(2, n - 1), 1, n - 1]), whole)


def _sizes(shape_or_tensor: Any) -> list[Any]:
    return shape_or_tensor.shape.as_list() if isinstance(shape_or_tensor, Tensor) else list(shape_or_tensor)
