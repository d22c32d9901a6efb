"""Decorators that say in which modes a test runs, and questions about the machine. Source: `test_util`, TF 1.15.

Of what a decorator asks for, that which there is here anyway, or is not, changes nothing.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import unittest
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

from tfexp.core.op import get_op
from tfexp.graph import behavior
from tfexp.graph.convert import constant
from tfexp.graph.scopes import get_default_graph
from tfexp.graph.tensor import Tensor
from tfexp.runtime.eager import eager_mode
from tfexp.runtime.testing import TestCase
from tfexp.runtime.testing_leaks import assert_no_garbage_created, assert_no_new_tensors

TensorFlowTestCase = TestCase

# --- which tests run ----------------------------------------------------------------------------------------------------


def as_decorator(wrap: Callable[..., Any], function: Any) -> Any:
    """`@decorate` and `@decorate()` alike."""
    return wrap if function is None else wrap(function)


def run_in_graph_and_eager_modes(
    func: Any = None,
    config: Any = None,
    use_gpu: bool = True,
    reset_test: bool = True,
    assert_no_eager_garbage: bool = False,
) -> Any:
    """The test method runs in a session on its graph, and then once more, after tearDown and setUp, eagerly."""

    def wrap(method: Any) -> Any:
        only_for_methods("run_in_graph_and_eager_modes", method, " Did you mean to use `run_all_in_graph_and_eager_modes`?")

        @functools.wraps(method)
        def run(self: Any, *args: Any, **kwargs: Any) -> None:
            try:
                with self.test_session(use_gpu=use_gpu, config=config):
                    method(self, *args, **kwargs)
            except unittest.SkipTest:  # it may only skip the one mode
                pass
            eagerly = assert_no_new_tensors(assert_no_garbage_created(method)) if assert_no_eager_garbage else method
            again = reset_test or assert_no_eager_garbage
            if again:
                self.tearDown()
                self.reset()
            with eager_mode():
                if again:
                    self.setUp()
                eagerly(self, *args, **kwargs)

        return run

    return as_decorator(wrap, func)


def only_for_methods(name: str, method: Any, hint: str = "") -> None:
    if isinstance(method, type):
        raise ValueError(f"`{name}` only supports test methods.{hint}")


def _unchanged(func: Any = None) -> Any:
    """For what asks for the mode that tests have here anyway."""
    return (lambda function: function) if func is None else func


run_deprecated_v1 = deprecated_graph_mode_only = run_all_in_deprecated_graph_mode_only = _unchanged
disable_cudnn_autotune = eager_lazy_remote_copy_on_and_off = _unchanged
enable_c_shapes = with_c_shapes = enable_c_api = with_c_api = _unchanged
enable_output_all_intermediates = run_class_in_v1_v2 = run_in_v1_v2 = _unchanged


def _tests_of(cls: Any) -> list[tuple[str, Any]]:
    """(name, method) of the tests that a class has itself."""
    prefix = unittest.TestLoader.testMethodPrefix
    own = list(vars(cls).items())
    return [(name, value) for name, value in own if callable(value) and name.startswith(prefix) and name != "test_session"]


def for_all_test_methods(decorator: Any, *args: Any, **kwargs: Any) -> Any:
    """A class decorator that gives `decorator` to every test method."""

    def decorate(cls: Any) -> Any:
        for name, value in _tests_of(cls):
            setattr(cls, name, decorator(*args, **kwargs)(value))
        return cls

    return decorate


def enable_control_flow_v2(func: Any) -> Any:
    """`func` with control flow by nodes that call functions."""

    @functools.wraps(func)
    def run(*args: Any, **kwargs: Any) -> Any:
        before = behavior.control_flow_v2_enabled()
        behavior.enable_control_flow_v2()
        try:
            return func(*args, **kwargs)
        finally:
            if not before:
                behavior.disable_control_flow_v2()

    return run


def disable_control_flow_v2(unused_msg: str) -> Any:
    """For a test that `with_control_flow_v2` leaves as it is; the argument says why."""

    def mark(func: Any) -> Any:
        func._disable_control_flow_v2 = True
        return func

    return mark


def with_control_flow_v2(cls: Any) -> Any:
    """A class of tests which has each of them twice: as it is, and with control flow by nodes that call functions."""
    if behavior.control_flow_v2_enabled():
        return cls
    for name, value in _tests_of(cls):
        if not getattr(value, "_disable_control_flow_v2", False):
            setattr(cls, f"{name}WithControlFlowV2", enable_control_flow_v2(value))
    return cls


_OF_GRAPHS = "testSkipEager", "test_skip_eager"


def run_all_in_graph_and_eager_modes(cls: Any) -> Any:
    """A class of tests, each run in a graph and eagerly; in a graph alone if its name says that it skips eager execution."""
    for name, value in _tests_of(cls):
        if not name.startswith(_OF_GRAPHS):
            setattr(cls, name, run_in_graph_and_eager_modes(value))
    return cls


def run_v1_only(reason: Any = None, func: Any = None) -> Any:
    """Nothing changes: this is TensorFlow 1. `@run_v1_only("why")`, and `@run_v1_only` alone."""
    return _unchanged(func if func is not None or isinstance(reason, str) or reason is None else reason)


def _skipping(name: str, reason: str) -> Callable[..., Any]:
    """A decorator of test methods, with that name, which skips them all."""

    def skip(func: Any = None) -> Any:
        def wrap(method: Any) -> Any:
            only_for_methods(name, method)
            return unittest.skip(reason)(method)

        return as_decorator(wrap, func)

    return skip


run_v2_only = _skipping("run_v2_only", "Test is only compatible with v2")
run_gpu_only = run_gpu_or_tpu = _skipping("run_gpu_only", "Test requires GPU")
run_cuda_only = _skipping("run_cuda_only", "Test requires CUDA GPU")


def skip_if(condition: Any) -> Any:
    """The test does nothing, and passes, where the condition, or what it returns, holds."""

    def decorate(method: Any) -> Any:
        @functools.wraps(method)
        def run(self: Any, *args: Any, **kwargs: Any) -> None:
            if not (condition() if callable(condition) else condition):
                method(self, *args, **kwargs)

        return run

    return decorate


def _with_description(description: str) -> Any:
    return _unchanged


disable_all_xla = enable_tf_xla_constant_folding = _with_description
disable_xla = no_xla_auto_jit = xla_allow_fallback = disable_mlir_bridge = _with_description


# --- the machine --------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def use_gpu() -> Iterator[None]:
    """Nodes may be placed anywhere."""
    yield


@contextlib.contextmanager
def force_gpu() -> Iterator[None]:
    with get_default_graph().device("/device:GPU:0"):
        yield


@contextlib.contextmanager
def force_cpu() -> Iterator[None]:
    with get_default_graph().device("/device:CPU:0"):
        yield


@contextlib.contextmanager
def device(use_gpu: bool) -> Iterator[None]:
    """A GPU where there is one and it is asked for, else the CPU."""
    with force_cpu():
        yield


def _no() -> bool:
    return False


IsMklEnabled = IsGoogleCudaEnabled = IsBuiltWithROCm = IsBuiltWithXLA = _no
GpuSupportsHalfMatMulAndConv = CudaSupportsHalfMatMulAndConv = is_xla_enabled = is_mlir_bridge_enabled = _no


def InstallStackTraceHandler() -> None:
    """Python's own: stack traces of all threads when the process is killed by a signal."""
    import faulthandler

    faulthandler.enable()


# --- graphs -------------------------------------------------------------------------------------------------------------


def assert_ops_in_graph(expected_ops: dict[str, str], graph: Any) -> dict[str, Any]:
    """{name: NodeDef} of the nodes that are expected, as {name: op}; ValueError when one lacks or is another op."""
    actual = {}
    for node in graph.as_graph_def().node:
        if node.name in expected_ops:
            if expected_ops[node.name] != node.op:
                raise ValueError(f"Expected op for node {node.name} is different. {expected_ops[node.name]} vs {node.op}")
            actual[node.name] = node
    if actual.keys() != expected_ops.keys():
        raise ValueError(f"Not all expected ops are present. Expected {sorted(expected_ops)}, found {sorted(actual)}")
    return actual


def get_node_def_from_graph(node_name: str, graph_def: Any) -> Any:
    """The node of that name; None where there is none."""
    return next((node for node in graph_def.node if node.name == node_name), None)


def assert_meta_graph_protos_equal(tester: Any, a: Any, b: Any) -> None:
    """Equal, with equal collections in any order."""
    tester.assertEqual(set(a.collection_def), set(b.collection_def))
    for key in a.collection_def:
        tester.assertEqual(a.collection_def[key], b.collection_def[key])
    one, other = type(a)(), type(b)()
    one.CopyFrom(a)
    other.CopyFrom(b)
    for meta in (one, other):
        meta.ClearField("collection_def")
    tester.assertEqual(one, other)


def _permuted(value: Any, orders: dict[int, list[int]]) -> Any:
    order = orders[len(value.get_shape()) if isinstance(value, Tensor) else len(value)]
    if isinstance(value, Tensor):
        return get_op("Transpose")(value, constant(order))
    return [value[axis] for axis in order]


def NHWCToNCHW(input_tensor: Any) -> Any:
    """A tensor, or the list of its sizes, with channels moved behind the batch."""
    return _permuted(input_tensor, {4: [0, 3, 1, 2], 5: [0, 4, 1, 2, 3]})


def NCHWToNHWC(input_tensor: Any) -> Any:
    """A tensor, or the list of its sizes, with channels moved to the end."""
    return _permuted(input_tensor, {4: [0, 2, 3, 1], 5: [0, 2, 3, 4, 1]})


# --- parameters ---------------------------------------------------------------------------------------------------------


def generate_combinations_with_testcase_name(**kwargs: Any) -> list[Any]:
    """Every combination of the arguments' values, each with a `testcase_name` made of them, for absl's parameterized."""
    keys = sorted(kwargs)
    result = []
    for values in itertools.product(*(kwargs[key] for key in keys)):
        chosen = OrderedDict(zip(keys, values, strict=True))
        name = "".join(
            f"_{''.join(filter(str.isalnum, k))}_{''.join(filter(str.isalnum, str(v)))}" for k, v in chosen.items()
        )
        result.append(OrderedDict([*chosen.items(), ("testcase_name", f"_test{name}")]))
    return result
