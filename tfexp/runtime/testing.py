"""`tf.test`: a TestCase with sessions and assertions about arrays, for test files. Source: TF 1.15."""

from __future__ import annotations

import contextlib
import os
import random
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from absl.testing import absltest
from google.protobuf import text_format
from google.protobuf.message import Message
from tensorboard.compat.proto import config_pb2

from tfexp.core import errors, nest
from tfexp.core.device import canonical_name
from tfexp.core.dtypes import as_dtype
from tfexp.graph import defaults
from tfexp.graph.convert import IndexedSlices
from tfexp.graph.defaults import get_default_session
from tfexp.graph.graph import Graph
from tfexp.graph.random_seed import DEFAULT_GRAPH_SEED, set_random_seed
from tfexp.graph.scopes import executing_eagerly, get_default_graph, reset_default_graph
from tfexp.graph.tensor import Tensor
from tfexp.runtime.gpus import real_gpus
from tfexp.runtime.session import Session

_SEED = DEFAULT_GRAPH_SEED


class TestCase(absltest.TestCase):
    """An absl TestCase that starts each test with an empty default graph and fixed seeds.

    What its assertions are given may be tensors, or hold some: those are compared by their values.
    """

    __test__ = False  # a base class: pytest collects subclasses, which set it

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.__test__ = True

    def __init__(self, methodName: str = "runTest"):
        super().__init__(methodName)
        self._cached_session: Session | None = None
        self._cached_arguments: dict[str, Any] = {}
        self._temporary: str | None = None

    def setUp(self) -> None:
        super().setUp()
        self.addCleanup(self._clean_up)
        if executing_eagerly():
            set_random_seed(_SEED)
            return
        random.seed(_SEED)
        np.random.seed(_SEED)
        if defaults.graph_stack.is_empty:  # else the test is within a graph that is new for it
            reset_default_graph()
        get_default_graph().seed = _SEED

    def _clean_up(self) -> None:
        if self._cached_session is not None:
            self._cached_session.close()
            self._cached_session = None
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)  # the test may have removed it
            self._temporary = None

    def get_temp_dir(self) -> str:
        """A folder of this test's own, removed after it."""
        if self._temporary is None:
            self._temporary = tempfile.mkdtemp(prefix=re.sub(r"\W", "_", self.id()))
        return self._temporary

    # --- sessions ------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def session(
        self, graph: Graph | None = None, config: Any = None, use_gpu: bool = False, force_gpu: bool = False
    ) -> Iterator[Session | None]:
        """A new session on `graph` (the default graph), both default inside the block; None in eager execution.

        Ops of the block go to the CPU, but with `use_gpu` to where they can and with `force_gpu` to the GPU.
        """
        if executing_eagerly():
            yield None
            return
        target = graph or get_default_graph()
        new = Session(graph=target, config=config or _config(force_gpu))
        with target.as_default(), new as session, target.device(_device(use_gpu, force_gpu)):
            yield session

    @contextlib.contextmanager
    def cached_session(
        self, graph: Graph | None = None, config: Any = None, use_gpu: bool = False, force_gpu: bool = False
    ) -> Iterator[Session | None]:
        """The one session of this test: variables keep their values from block to block; None in eager execution.

        ValueError where the session was made for another graph, `config` or `force_gpu`.
        """
        if executing_eagerly():
            yield None
            return
        arguments = {"graph": graph, "config": config, "force_gpu": force_gpu}
        if self._cached_session is None:
            self._cached_session = Session(graph=graph, config=config or _config(force_gpu))
            self._cached_arguments = arguments
        for argument, value in self._cached_arguments.items():
            if arguments[argument] != value:
                raise ValueError(
                    f"The {argument} used to get the cached session is different "
                    "than the one that was used to create the session. Maybe create a new session with self.session()"
                )
        session = self._cached_session
        with session.graph.as_default(), session.as_default(), session.graph.device(_device(use_gpu, force_gpu)):
            yield session

    def test_session(
        self, graph: Graph | None = None, config: Any = None, use_gpu: bool = False, force_gpu: bool = False
    ) -> contextlib.AbstractContextManager[Session | None]:
        """`cached_session` without a graph, `session` with one."""
        if self.id().endswith(".test_session"):
            self.skipTest("Not a test.")
        block = self.cached_session if graph is None else self.session
        return block(graph, config, use_gpu, force_gpu)

    test_session.__test__ = False  # type: ignore[attr-defined]

    def evaluate(self, tensors: Any) -> Any:
        """The values of a structure of tensors: eagerly their own, else those in the default or the cached session."""
        if executing_eagerly():
            return nest.map_structure(_value_of_eager, tensors)
        session = get_default_session()
        if session is None:
            with self.cached_session() as session:
                assert session is not None
                return session.run(tensors)
        return session.run(tensors)

    def _evaluated(self, value: Any) -> Any:
        if isinstance(value, (Tensor, IndexedSlices, nest.Composite)) or hasattr(value, "_as_graph_element"):
            return self.evaluate(value)
        return value

    def _array(self, value: Any) -> np.ndarray:
        value = self._evaluated(value)
        return value if isinstance(value, np.ndarray) else np.array(value)

    # --- near each other ---------------------------------------------------------------------------------------------

    def assertAllClose(self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None) -> None:
        """Structures of numbers, arrays or tensors whose leaves differ by at most `atol + rtol * |b|`."""
        self._assert_close(a, b, rtol, atol, "", msg or "")

    def _assert_close(self, a: Any, b: Any, rtol: float, atol: float, path: str, msg: str) -> None:
        a, b = (self._evaluated(value._asdict() if hasattr(value, "_asdict") else value) for value in (a, b))
        if isinstance(a, Mapping) != isinstance(b, Mapping):
            raise ValueError(f"Can't compare dict to non-dict, a{path} vs b{path}. {msg}")
        if isinstance(a, Mapping):
            keys = f"mismatched keys: a{path} has keys {a.keys()}, but b{path} has keys {b.keys()}. {msg}"
            self.assertCountEqual(a, b, keys)
            for key in a:
                self._assert_close(a[key], b[key], rtol, atol, f"{path}[{key}]", msg)
        elif _has_parts(a) or _has_parts(b):
            lengths = _length(a), _length(b)
            items = f"Mismatched length: a{path} has {lengths[0]} items, but b{path} has {lengths[1]} items. {msg}"
            self.assertEqual(*lengths, items)
            for i, (one, other) in enumerate(zip(a, b, strict=True)):
                self._assert_close(one, other, rtol, atol, f"{path}[{i}]", msg)
        else:
            where = f"Mismatched value: a{path} is different from b{path}. {msg}"
            try:
                self._assert_arrays_close(self._array(a), self._array(b), rtol, atol, where)
            except TypeError as error:
                kinds = f"a{path} has {type(a)}, but b{path} has {type(b)}. {msg}"
                raise TypeError(f"{error}: Error: {kinds}") from error

    def _assert_arrays_close(self, a: np.ndarray, b: np.ndarray, rtol: float, atol: float, msg: str) -> None:
        contents = f" with contents {b}" if b.size < 500 else ""
        self.assertEqual(a.shape, b.shape, f"Shape mismatch: expected {a.shape}, got {b.shape}{contents}.")
        a, b = (x.astype(np.float32) if x.dtype.name == "bfloat16" else x for x in (a, b))
        # What has no numbers is refused here, in the words of NumPy's.
        both_nan = np.isnan(a) & np.isnan(b)
        close = np.isclose(a, b, rtol, atol) | both_nan
        if close.all():
            return
        far = _at(~close, a=a, b=b)
        lines = [msg, *_where(~close), f"not close lhs = {far['a']}", f"not close rhs = {far['b']}"]
        lines.append(f"not close dif = {np.abs(np.subtract(far['a'], far['b'], dtype=np.result_type(a, b, 1.0)))}")
        lines.append(f"not close tol = {atol + rtol * np.abs(far['b'])}")
        lines.append(f"dtype = {a.dtype}, shape = {a.shape}")
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol, err_msg="\n".join(lines), equal_nan=True)

    def assertAllCloseAccordingToType(
        self,
        a: Any,
        b: Any,
        rtol: float = 1e-6,
        atol: float = 1e-6,
        float_rtol: float = 1e-6,
        float_atol: float = 1e-6,
        half_rtol: float = 1e-3,
        half_atol: float = 1e-3,
        bfloat16_rtol: float = 1e-2,
        bfloat16_atol: float = 1e-2,
        msg: str | None = None,
    ) -> None:
        """`assertAllClose` with the tolerances of the coarser of the two types."""
        a, b = self._array(a), self._array(b)
        names = {a.dtype.name, b.dtype.name}
        for kinds, kind_rtol, kind_atol in (
            ({"float32", "complex64"}, float_rtol, float_atol),
            ({"float16"}, half_rtol, half_atol),
            ({"bfloat16"}, bfloat16_rtol, bfloat16_atol),
        ):
            if names & kinds:
                rtol, atol = max(rtol, kind_rtol), max(atol, kind_atol)
        self.assertAllClose(a, b, rtol=rtol, atol=atol, msg=msg)

    def assertNotAllClose(self, a: Any, b: Any, **kwargs: Any) -> None:
        try:
            self.assertAllClose(a, b, **kwargs)
        except AssertionError:
            return
        raise AssertionError("The two values are close at all elements")

    def assertNear(self, f1: float, f2: float, err: float, msg: str | None = None) -> None:
        suffix = f" ({msg})" if msg else ""
        self.assertTrue(f1 == f2 or abs(f1 - f2) <= err, f"{f1:f} != {f2:f} +/- {err:f}{suffix}")

    def assertArrayNear(self, farray1: Any, farray2: Any, err: float, msg: str | None = None) -> None:
        self.assertEqual(len(farray1), len(farray2), msg)
        for one, other in zip(farray1, farray2, strict=True):
            self.assertNear(float(one), float(other), err, msg)

    # --- equal, in order, within ---------------------------------------------------------------------------------------

    def assertAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Arrays or tensors of one shape with equal elements; NaN is NaN."""
        one, other = self._array(a), self._array(b)
        contents = f" Contents: {other}." if other.size < 500 else ""
        self.assertEqual(
            one.shape, other.shape, f"Shape mismatch: expected {one.shape}, got {other.shape}.{contents} {msg or ''}"
        )
        unequal = np.logical_not(one == other)  # shapes that are not known are equal, but nobody knows if they differ
        if not unequal.any():
            return
        found = _at(unequal, a=one, b=other)
        lines = [msg or "", *_where(unequal, "equal"), f"not equal lhs = {found['a']}", f"not equal rhs = {found['b']}"]
        np.testing.assert_array_equal(one, other, err_msg="\n".join(lines))

    def assertNotAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        raise AssertionError(f"The two values are equal at all elements. {msg or ''}")

    def assertAllGreater(self, a: Any, comparison_target: float) -> None:
        self.assertGreater(self._array(a).min().item(), comparison_target)

    def assertAllGreaterEqual(self, a: Any, comparison_target: float) -> None:
        self.assertGreaterEqual(self._array(a).min().item(), comparison_target)

    def assertAllLess(self, a: Any, comparison_target: float) -> None:
        self.assertLess(self._array(a).max().item(), comparison_target)

    def assertAllLessEqual(self, a: Any, comparison_target: float) -> None:
        self.assertLessEqual(self._array(a).max().item(), comparison_target)

    def assertAllInRange(
        self,
        target: Any,
        lower_bound: float,
        upper_bound: float,
        open_lower_bound: bool = False,
        open_upper_bound: bool = False,
    ) -> None:
        """Numbers between the bounds, which belong to the range unless it is open there; NaN is in none."""
        values = self._array(target)
        if values.dtype.kind not in "iuf" and values.dtype.name != "bfloat16":
            raise AssertionError(f"The value of {target} does not have an ordered numeric type, but type {values.dtype}")
        low = values > lower_bound if open_lower_bound else values >= lower_bound
        high = values < upper_bound if open_upper_bound else values <= upper_bound
        outside = ~(low & high)
        if outside.any():
            bounds = f"{'(' if open_lower_bound else '['}{lower_bound}, {upper_bound}{')' if open_upper_bound else ']'}"
            places = [f"  {place} : {values[tuple(place)]}" for place in np.argwhere(outside)[:10]]
            head = f"{outside.sum()} of the {values.size} element(s) are outside the range {bounds}, the first of them:"
            raise AssertionError("\n".join([head, *places]))

    def assertAllInSet(self, target: Any, expected_set: Any) -> None:
        values = self._array(target)
        if bad := [value for value in np.unique(values).tolist() if value not in expected_set]:
            raise AssertionError(f"{len(bad)} unique element(s) are not in the set {expected_set}: {bad}")

    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:
        """A tensor, an array or a list of that type (a DType or what NumPy takes for one)."""
        dtype = target.dtype if hasattr(target, "dtype") else self._array(target).dtype
        self.assertEqual(as_dtype(dtype).base_dtype, as_dtype(expected_dtype).base_dtype)

    def assertShapeEqual(self, np_array: Any, tf_tensor: Any, msg: str | None = None) -> None:
        if not isinstance(np_array, (np.ndarray, np.generic)):
            raise TypeError("np_array must be a Numpy ndarray or Numpy scalar")
        if not isinstance(tf_tensor, Tensor):
            raise TypeError("tf_tensor must be a Tensor")
        self.assertAllEqual(np_array.shape, tf_tensor.get_shape().as_list(), msg)

    # --- errors, protos, names -----------------------------------------------------------------------------------

    @contextlib.contextmanager
    def assertRaisesWithPredicateMatch(  # type: ignore[override]
        self, exception_type: Any, expected_err_re_or_predicate: Any
    ) -> Iterator[None]:
        """The block raises that exception, and its text matches the pattern, or the predicate holds for it."""
        matches: Callable[[Any], bool]
        if callable(expected_err_re_or_predicate):
            matches = expected_err_re_or_predicate
        else:
            pattern = re.compile(expected_err_re_or_predicate)

            def matches(error: Any) -> bool:
                text = error.message if isinstance(error, errors.OpError) else str(error)
                operation = getattr(error, "op", None)
                return bool(pattern.search(text if operation is None else f"{text}\nCaused by op {operation.name!r}"))

        try:
            yield
        except Exception as error:
            if not isinstance(error, exception_type) or not matches(error):
                raise AssertionError(f"Exception of type {type(error)}: {error}") from error
            return
        self.fail(f"{getattr(exception_type, '__name__', exception_type)} not raised")

    def assertRaisesOpError(self, expected_err_re_or_predicate: Any) -> Any:
        return self.assertRaisesWithPredicateMatch(errors.OpError, expected_err_re_or_predicate)

    def assertProtoEquals(self, expected_message_maybe_ascii: Any, message: Message, msg: str | None = None) -> None:
        """Protos of one type with equal fields; the expected one may be text."""
        expected = expected_message_maybe_ascii
        if isinstance(expected, str):
            expected = text_format.Parse(expected, type(message)())
        if type(expected) is not type(message):
            self.fail(f"Can't compare protos of type {type(expected)} and {type(message)}. {msg or ''}")
        self.assertEqual(text_format.MessageToString(expected), text_format.MessageToString(message), msg)

    def assertStartsWith(self, actual: Any, expected_start: Any, msg: Any = None) -> None:
        if not actual.startswith(expected_start):
            self.fail(f"{actual!r} does not start with {expected_start!r}" + (f" : {msg!r}" if msg else ""))

    def assertDeviceEqual(self, device1: Any, device2: Any, msg: str | None = None) -> None:
        one, other = canonical_name(device1), canonical_name(device2)
        self.assertEqual(one, other, f"Devices {one} and {other} are not equal. {msg}")

    assertItemsEqual = absltest.TestCase.assertCountEqual


def _value_of_eager(tensor: Any) -> Any:
    if isinstance(tensor, nest.Composite):
        return tensor.fetched([_value_of_eager(part) for part in tensor.parts])
    return tensor.numpy() if hasattr(tensor, "numpy") else tensor


def _config(force_gpu: bool) -> config_pb2.ConfigProto:
    """A device that is not there is no error, unless the test insists on it."""
    return config_pb2.ConfigProto(allow_soft_placement=not force_gpu)


def _device(use_gpu: bool, force_gpu: bool) -> str | None:
    """The device of the ops of a test's session."""
    if force_gpu:
        return "/device:GPU:0"
    return None if use_gpu else "/device:CPU:0"


def _has_parts(value: Any) -> bool:
    """Whether a list is compared element by element: it holds tensors, mappings, or arrays of several shapes."""
    if not isinstance(value, (list, tuple)):
        return False
    if any(isinstance(leaf, (Tensor, np.ndarray)) or hasattr(leaf, "_as_graph_element") for leaf in nest.flatten(value)):
        return True
    try:
        return np.array(value).dtype == object
    except ValueError:
        return True


def _length(value: Any) -> int | None:
    """Number of elements to compare one by one; None for a number."""
    return len(value) if isinstance(value, (list, tuple)) or np.ndim(value) else None


def _where(wrong: np.ndarray, what: str = "close") -> list[str]:
    """The line that says which elements are wrong; a single number needs none."""
    return [f"not {what} where = {np.nonzero(wrong)}"] if wrong.ndim else []


def _at(wrong: np.ndarray, **arrays: np.ndarray) -> dict[str, Any]:
    """The elements of each array that are wrong; a single number as it is."""
    return {name: array[wrong] if wrong.ndim else array[()] for name, array in arrays.items()}


# --- functions ----------------------------------------------------------------------------------------------------------


def get_temp_dir() -> str:
    """A folder for temporary files of the process's tests."""
    folder = os.environ.get("TEST_TMPDIR") or os.path.join(tempfile.gettempdir(), f"tfexp-tests-{os.getpid()}")
    os.makedirs(folder, exist_ok=True)
    return folder


def main(argv: list[str] | None = None) -> None:
    """Parse the flags and run the module's tests; exits. Source: `tf.test.main`."""
    absltest.main(argv=sys.argv if argv is None else argv)


def is_built_with_cuda() -> bool:
    """False: TensorFlow's own kernels for GPUs are not here. Source: `tf.test.is_built_with_cuda`."""
    return False


def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: Any = None) -> bool:
    """Whether there is a GPU that is not virtual. Source: `tf.test.is_gpu_available`."""
    return real_gpus(None) > 0


def gpu_device_name() -> str:
    """`/device:GPU:0`; empty where no GPU is but virtual ones. Source: `tf.test.gpu_device_name`."""
    return "/device:GPU:0" if is_gpu_available() else ""
