"""`tf.test`: a TestCase with sessions and array assertions: suites written for TensorFlow run here. Source: TF 1.15."""

from __future__ import annotations

import contextlib
import os
import random
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

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
from tfexp.graph.graph import PRODUCER_VERSION, Graph
from tfexp.graph.random_seed import DEFAULT_GRAPH_SEED, set_random_seed
from tfexp.graph.scopes import executing_eagerly, get_default_graph, reset_default_graph
from tfexp.graph.tensor import Tensor
from tfexp.runtime.benchmark import run_benchmarks, wanted_benchmarks
from tfexp.runtime.session import Session
from tfexp.runtime.test_io import CapturedWrites, CheckedThread, EagerSession, captured_writes

_SEED = DEFAULT_GRAPH_SEED


GoogleTestCase = absltest.TestCase


class TestCase(absltest.TestCase):
    """An absl TestCase that starts each test with an empty default graph and fixed seeds."""

    __test__ = False  # a base class: pytest collects subclasses, which set it

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.__test__ = True

    def __init__(self, methodName: str = "runTest"):
        super().__init__(methodName)
        self._cached_session: Session | None = None
        self._temporary: str | None = None
        self._threads: list[CheckedThread] = []

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

    def reset(self) -> None:
        """Forget what was kept between the blocks of this test, as before its next run."""
        self._clean_up()

    def _clean_up(self) -> None:
        if self._cached_session is not None:
            self._cached_session.close()
            self._cached_session = None
        if self._temporary is not None:
            with contextlib.suppress(FileNotFoundError):  # where the test has removed it
                shutil.rmtree(self._temporary)
            self._temporary = None
        for thread in self._threads:
            thread.check_joined()

    def get_temp_dir(self) -> str:
        """A folder of this test's own, removed after it."""
        if self._temporary is None:
            self._temporary = tempfile.mkdtemp(prefix=re.sub(r"\W", "_", self.id()))
        return self._temporary

    def captureWritesToStream(self, stream: Any) -> contextlib.AbstractContextManager[CapturedWrites]:
        """`with self.captureWritesToStream(sys.stderr) as writes:`, and `writes.contents()` is what came so far."""
        return captured_writes(stream, self.get_temp_dir())

    def checkedThread(
        self, target: Callable[..., Any], args: Sequence[Any] | None = None, kwargs: Mapping[str, Any] | None = None
    ) -> CheckedThread:
        """A thread that the test has to join, and that fails it when it fails."""
        thread = CheckedThread(self, target, args or (), kwargs)
        self._threads.append(thread)
        return thread

    # --- sessions ------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def session(
        self, graph: Graph | None = None, config: Any = None, use_gpu: bool = False, force_gpu: bool = False
    ) -> Iterator[Session]:
        """A new session on `graph` (the default graph), both default inside the block; eagerly what stands for one.

        Ops of the block go to the CPU, but with `use_gpu` to where they can and with `force_gpu` to the GPU.
        """
        if executing_eagerly():
            yield cast(Session, EagerSession(self.evaluate))
            return
        target = graph or get_default_graph()
        new = Session(graph=target, config=config or _config(force_gpu))
        with target.as_default(), new as session, target.device(_device(use_gpu, force_gpu)):
            yield session

    @contextlib.contextmanager
    def cached_session(
        self, graph: Graph | None = None, config: Any = None, use_gpu: bool = False, force_gpu: bool = False
    ) -> Iterator[Session]:
        """The one session of this test: variables keep their values from block to block. Eagerly what stands for one."""
        if executing_eagerly():
            yield cast(Session, EagerSession(self.evaluate))
            return
        if self._cached_session is None:
            self._cached_session = Session(graph=graph or get_default_graph(), config=config or _config(force_gpu))
        elif graph is not None and graph is not self._cached_session.graph:
            raise ValueError(
                "The graph used to get the cached session is different than the one that was used to create it."
            )
        session = self._cached_session
        with session.graph.as_default(), session.as_default(), session.graph.device(_device(use_gpu, force_gpu)):
            yield session

    def test_session(
        self, graph: Graph | None = None, config: Any = None, use_gpu: bool = False, force_gpu: bool = False
    ) -> contextlib.AbstractContextManager[Session]:
        """`cached_session` without a graph, `session` with one."""
        if self.id().endswith(".test_session"):
            self.skipTest("not a test, although unittest takes its name for one's")
        block = self.cached_session if graph is None else self.session
        return block(graph, config, use_gpu, force_gpu)

    test_session.__test__ = False  # type: ignore[attr-defined]

    def evaluate(self, tensors: Any) -> Any:
        """The values of a structure of tensors: eagerly their own, else those in the default or the cached session."""
        if executing_eagerly():
            return nest.map_structure(_value_of_eager, tensors)
        return _default_session(self).run(tensors)

    def _evaluated(self, value: Any) -> Any:
        if isinstance(value, (Tensor, IndexedSlices)) or hasattr(value, "_as_graph_element"):
            return self.evaluate(value)
        return value

    def _array(self, value: Any) -> np.ndarray:
        value = self._evaluated(value)
        return value if isinstance(value, np.ndarray) else np.array(value)

    # --- arrays --------------------------------------------------------------------------------------------------

    def assertAllClose(self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None) -> None:
        """Structures of numbers, arrays or tensors whose leaves differ by at most `atol + rtol * |b|`."""
        a, b = (self._evaluated(value._asdict() if hasattr(value, "_asdict") else value) for value in (a, b))
        if isinstance(a, Mapping) != isinstance(b, Mapping):
            raise ValueError(f"Can't compare a dict to what is none: {a!r} and {b!r}. {msg or ''}")
        if isinstance(a, Mapping):
            self.assertEqual(set(a), set(b), msg)
            for key in a:
                self.assertAllClose(a[key], b[key], rtol, atol, f"{msg or ''} at key {key!r}")
            return
        if _is_ragged(a) or _is_ragged(b):
            self.assertEqual(_length(a), _length(b), f"Shape mismatch: {a!r} and {b!r}. {msg or ''}")
            for i, (one, other) in enumerate(zip(a, b, strict=True)):
                self.assertAllClose(one, other, rtol, atol, f"{msg or ''} at index {i}")
            return
        one, other = self._array(a), self._array(b)
        half = {"float16", "bfloat16"}
        if one.dtype.name in half or other.dtype.name in half:
            rtol, atol = max(rtol, 1e-3), max(atol, 1e-3)
        self.assertEqual(one.shape, other.shape, f"Shape mismatch: expected {one.shape}, got {other.shape}. {msg or ''}")
        np.testing.assert_allclose(
            one.astype(np.float64) if one.dtype.name == "bfloat16" else one,
            other.astype(np.float64) if other.dtype.name == "bfloat16" else other,
            rtol=rtol,
            atol=atol,
            err_msg=msg or "",
            equal_nan=True,
        )

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

    def assertAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Arrays or tensors of one shape with equal elements."""
        one, other = self._array(a), self._array(b)
        self.assertEqual(one.shape, other.shape, f"Shape mismatch: expected {one.shape}, got {other.shape}. {msg or ''}")
        if one.dtype.kind in "USO" or other.dtype.kind in "USO":
            one, other = np.vectorize(_as_bytes, otypes=[object])(one), np.vectorize(_as_bytes, otypes=[object])(other)
        np.testing.assert_array_equal(one, other, err_msg=msg or "")

    def assertNotAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        raise AssertionError(f"The two values are equal at all elements. {msg or ''}")

    def assertAllGreater(self, a: Any, comparison_target: float) -> None:
        self.assertGreater(float(self._array(a).min()), comparison_target)

    def assertAllGreaterEqual(self, a: Any, comparison_target: float) -> None:
        self.assertGreaterEqual(float(self._array(a).min()), comparison_target)

    def assertAllLess(self, a: Any, comparison_target: float) -> None:
        self.assertLess(float(self._array(a).max()), comparison_target)

    def assertAllLessEqual(self, a: Any, comparison_target: float) -> None:
        self.assertLessEqual(float(self._array(a).max()), comparison_target)

    def assertAllInRange(
        self,
        target: Any,
        lower_bound: float,
        upper_bound: float,
        open_lower_bound: bool = False,
        open_upper_bound: bool = False,
    ) -> None:
        values = self._array(target)
        low = values > lower_bound if open_lower_bound else values >= lower_bound
        high = values < upper_bound if open_upper_bound else values <= upper_bound
        bad = values[~(low & high)]
        self.assertEqual(bad.size, 0, f"outside of {lower_bound} .. {upper_bound}: {bad[:10]}")

    def assertAllInSet(self, target: Any, expected_set: Any) -> None:
        bad = [value for value in np.unique(self._array(target)) if value not in expected_set]
        self.assertEqual(bad, [], f"not in {expected_set}: {bad[:10]}")

    def assertArrayNear(self, farray1: Any, farray2: Any, err: float, msg: str | None = None) -> None:
        self.assertEqual(len(farray1), len(farray2), msg)
        for one, other in zip(farray1, farray2, strict=True):
            self.assertNear(float(one), float(other), err, msg)

    def assertNDArrayNear(self, ndarray1: Any, ndarray2: Any, err: float, msg: str | None = None) -> None:
        distance = float(np.linalg.norm(self._array(ndarray1) - self._array(ndarray2)))
        self.assertLess(distance, err, msg)

    def assertNear(self, f1: float, f2: float, err: float, msg: str | None = None) -> None:
        self.assertTrue(f1 == f2 or abs(f1 - f2) <= err, f"{f1!r} != {f2!r} +/- {err!r} {msg or ''}")

    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:
        """A tensor, an array or a list of that type (a DType or what NumPy takes for one)."""
        dtype = target.dtype if hasattr(target, "dtype") else self._array(target).dtype
        self.assertEqual(as_dtype(dtype).base_dtype, as_dtype(expected_dtype).base_dtype)

    def assertShapeEqual(self, np_array: Any, tf_tensor: Any, msg: str | None = None) -> None:
        if not isinstance(np_array, (np.ndarray, np.generic)):
            raise TypeError("np_array must be a Numpy ndarray or Numpy scalar")
        self.assertEqual(list(np_array.shape), tf_tensor.get_shape().as_list(), msg)

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
                return (
                    pattern.search(f"{text}\nCaused by op {operation.name!r}" if operation is not None else text) is not None
                )

        try:
            yield
        except Exception as error:
            if not isinstance(error, exception_type) or not matches(error):
                raise AssertionError(f"Exception of type {type(error)}: {error}") from error
            return
        self.fail(f"{exception_type.__name__} not raised")

    def assertRaisesOpError(self, expected_err_re_or_predicate: Any) -> Any:
        return self.assertRaisesWithPredicateMatch(errors.OpError, expected_err_re_or_predicate)

    def assertProtoEquals(self, expected_message_maybe_ascii: Any, message: Message, msg: str | None = None) -> None:
        """Protos with equal fields; the expected one may be text."""
        expected = expected_message_maybe_ascii
        if isinstance(expected, str):
            expected = text_format.Parse(expected, type(message)())
        self.assertEqual(text_format.MessageToString(expected), text_format.MessageToString(message), msg)

    def assertProtoEqualsVersion(
        self, expected: str, actual: Any, producer: int = PRODUCER_VERSION, min_consumer: int = 0, msg: str | None = None
    ) -> None:
        """GraphDefs with equal fields, the expected one being text without versions."""
        self.assertProtoEquals(f"versions {{ producer: {producer} min_consumer: {min_consumer} }};\n{expected}", actual, msg)

    def assertStartsWith(self, actual: Any, expected_start: Any, msg: Any = None) -> None:
        self.assertTrue(actual.startswith(expected_start), msg or f"{actual!r} does not start with {expected_start!r}")

    def assertDeviceEqual(self, device1: Any, device2: Any, msg: str | None = None) -> None:
        self.assertEqual(canonical_name(device1), canonical_name(device2), msg)

    assertItemsEqual = absltest.TestCase.assertCountEqual


def _value_of_eager(tensor: Any) -> Any:
    if isinstance(tensor, nest.Composite):
        return tensor.fetched([_value_of_eager(part) for part in tensor.parts])
    if callable(tensor):  # what gives it
        return nest.map_structure(_value_of_eager, tensor())
    return tensor.numpy() if hasattr(tensor, "numpy") else tensor


def _config(force_gpu: bool) -> config_pb2.ConfigProto:
    """A device that is not there is no error, unless the test insists on it."""
    return config_pb2.ConfigProto(allow_soft_placement=not force_gpu)


def _device(use_gpu: bool, force_gpu: bool) -> str | None:
    """Where the ops of a test's session go."""
    if force_gpu:
        return "/device:GPU:0"
    return None if use_gpu else "/device:CPU:0"


def _default_session(test: TestCase) -> Session:
    session = get_default_session() or test._cached_session
    if session is None:
        test._cached_session = session = Session(graph=get_default_graph())
    return session


def _is_ragged(value: Any) -> bool:
    """A list that is compared element by element: it holds tensors, mappings, or arrays of several shapes."""
    if not isinstance(value, (list, tuple)):
        return False
    if any(isinstance(leaf, (Tensor, np.ndarray)) or hasattr(leaf, "_as_graph_element") for leaf in nest.flatten(value)):
        return True
    try:
        return np.array(value).dtype == object
    except ValueError:
        return True


def _length(value: Any) -> int | None:
    """How many elements there are to compare one by one; None for a number."""
    return len(value) if isinstance(value, (list, tuple)) or np.ndim(value) else None


def _as_bytes(value: Any) -> Any:
    return value.encode() if isinstance(value, str) else value


def get_temp_dir() -> str:
    """A folder for temporary files of the process's tests."""
    folder = os.environ.get("TEST_TMPDIR") or os.path.join(tempfile.gettempdir(), f"tfexp-tests-{os.getpid()}")
    os.makedirs(folder, exist_ok=True)
    return folder


def main(argv: list[str] | None = None) -> None:
    """Parse the flags and run the module's tests, or with `--benchmarks=pattern` its benchmarks; exits. `tf.test.main`."""
    argv = sys.argv if argv is None else argv
    wanted = wanted_benchmarks(argv)
    if wanted is None:
        absltest.main(argv=argv)
    else:
        run_benchmarks(wanted)


def test_src_dir_path(relative_path: str) -> str:
    """A path below the folder that the tests' data are in: TEST_SRCDIR, else the current folder."""
    return os.path.join(os.environ.get("TEST_SRCDIR", os.getcwd()), relative_path)


test_src_dir_path.__test__ = False  # type: ignore[attr-defined]


def is_built_with_rocm() -> bool:
    """False, see `is_built_with_cuda`."""
    return False


def is_built_with_gpu_support() -> bool:
    """False, see `is_built_with_cuda`."""
    return False


def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: Any = None) -> bool:
    """False, see `is_built_with_cuda`."""
    return False


def is_built_with_cuda() -> bool:
    """False: devices of TensorFlow's are not here."""
    return False


def gpu_device_name() -> str:
    """The name of the first GPU; empty where there is none."""
    return ""


_TEMPORARY = re.compile(rb"_temp_[0-9a-z]{32}/part")
_TABLE = re.compile(rb"hash_table_[0-9a-z\-]+")


def assert_equal_graph_def(
    actual: Any, expected: Any, checkpoint_v2: bool = False, hash_table_shared_name: bool = False
) -> None:
    """AssertionError, saying where, unless both GraphDefs have the same nodes, in any order.

    checkpoint_v2: the random names of a saver's temporary files may differ; hash_table_shared_name: those of tables.
    """
    for argument, value in (("actual", actual), ("expected", expected)):
        if type(value).__name__ != "GraphDef":
            raise TypeError(f"Expected tf.GraphDef for {argument}, got {type(value).__name__}")
    ours, theirs = ({n.name: n for n in g.node} for g in (actual, expected))
    if ours.keys() != theirs.keys():
        raise AssertionError(f"Nodes in only one of the graphs: {sorted(ours.keys() ^ theirs.keys())}")
    for name, node in ours.items():
        nodes = [_without_random_names(one, checkpoint_v2, hash_table_shared_name) for one in (node, theirs[name])]
        if nodes[0] != nodes[1]:
            raise AssertionError(f"Found node different from expected: {node}\nexpected: {theirs[name]}")


def _without_random_names(node: Any, of_files: bool, of_tables: bool) -> Any:
    kept = type(node)()
    kept.CopyFrom(node)
    if of_files and node.op == "Const" and any(map(_TEMPORARY.match, node.attr["value"].tensor.string_val)):
        del kept.attr["value"]
    if of_tables and node.op == "HashTableV2" and _TABLE.match(node.attr["shared_name"].s):
        del kept.attr["shared_name"]
    return kept
