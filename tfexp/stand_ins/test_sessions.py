"""What stands in for sessions in tests, and other parts of `tensorflow.python.framework.test_util`. Source: TF 1.15."""

from __future__ import annotations

import functools
import itertools
import logging
import os
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from tfexp.core import nest
from tfexp.core.errors import OutOfRangeError
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import reshape
from tfexp.ops.array_order import transpose
from tfexp.ops.py_func import py_function
from tfexp.runtime.session import Session
from tfexp.stand_ins.framework_ops import inside_function

_log = logging.getLogger("tensorflow")


class FakeEagerSession:
    """A session's `run` over the test's `evaluate`, for tests that also run eagerly."""

    def __init__(self, test_case: Any):
        self._test_case = test_case

    def run(self, fetches: Any, *args: Any, **kwargs: Any) -> Any:
        """The values. RuntimeError for feeds, and for other arguments of a session's `run`."""
        if kwargs.pop("feed_dict", None):
            raise RuntimeError("feed_dict is not supported: eagerly there is nothing to feed")
        if args or kwargs:
            raise RuntimeError(f"Optional arguments of a session's run are not supported: {args or sorted(kwargs)}")
        return self._test_case.evaluate(fetches)


class EagerSessionWarner:
    """What tests have in place of a session while ops run at once: any use of it says what to do instead."""

    def __getattr__(self, attr: str) -> Any:
        raise AttributeError(
            f"There is no session to take {attr!r} from: ops run at once here. Use `self.evaluate`, or test in a graph."
        )


class ErrorLoggingSession(Session):
    """A session that writes what `run` raises to the log, which tests of background threads look at."""

    def run(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().run(*args, **kwargs)
        except Exception as error:
            if not isinstance(error, OutOfRangeError):  # the end of data is no failure
                _log.error("%s", error)
            raise


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
