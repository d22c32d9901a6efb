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
from tensorboard.compat.proto import config_pb2

from tfexp.core import nest
from tfexp.graph import defaults
from tfexp.graph.defaults import get_default_session
from tfexp.graph.graph import Graph
from tfexp.graph.random_seed import DEFAULT_GRAPH_SEED, set_random_seed
from tfexp.graph.scopes import executing_eagerly, get_default_graph, reset_default_graph
from tfexp.runtime.assertions import Assertions
from tfexp.runtime.benchmark import run_benchmarks, wanted_benchmarks
from tfexp.runtime.session import Session
from tfexp.runtime.testing_io import (
    CapturedWrites,
    CheckedThread,
    EagerSessionWarner,
    ErrorLoggingSession,
    FakeEagerSession,
    captured_writes,
)

_SEED = DEFAULT_GRAPH_SEED


GoogleTestCase = absltest.TestCase


class TestCase(Assertions):
    """An absl TestCase that starts each test with an empty default graph and fixed seeds."""

    __test__ = False  # a base class: pytest collects subclasses, which set it

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.__test__ = True

    def __init__(self, methodName: str = "runTest"):
        super().__init__(methodName)
        self._cached_session: Session | None = None
        self._temporary: str | None = None
        self._asked_of_cached: dict[str, Any] = {}
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

    def _ClearCachedSession(self) -> None:
        if self._cached_session is not None:
            self._cached_session.close()
            self._cached_session = None

    def _clean_up(self) -> None:
        self._ClearCachedSession()
        if self._temporary is not None:
            with contextlib.suppress(FileNotFoundError):  # where the test has removed it
                shutil.rmtree(self._temporary)
            self._temporary = None
        for thread in self._threads:
            thread.check_termination()

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
        """A new session on `graph` (the default graph), both default inside the block; eagerly what says that there is none.

        Ops of the block go to the CPU, but with `use_gpu` to where they can and with `force_gpu` to the GPU.
        """
        if executing_eagerly():
            yield cast(Session, EagerSessionWarner())
            return
        target = graph or get_default_graph()
        new = ErrorLoggingSession(graph=target, config=config or _config(force_gpu))
        with target.as_default(), new as session, target.device(_device(use_gpu, force_gpu)):
            yield session

    @contextlib.contextmanager
    def cached_session(
        self, graph: Graph | None = None, config: Any = None, use_gpu: bool = False, force_gpu: bool = False
    ) -> Iterator[Session]:
        """The one session of this test: variables keep their values from block to block. Eagerly what stands for one.

        ValueError where the session was made for another graph, `config` or `force_gpu`.
        """
        if executing_eagerly():
            yield cast(Session, FakeEagerSession(self))
            return
        asked = {"graph": graph, "config": config, "force_gpu": force_gpu}
        if self._cached_session is None:
            self._cached_session = ErrorLoggingSession(graph=graph, config=config or _config(force_gpu))
            self._asked_of_cached = asked
        for argument, value in self._asked_of_cached.items():
            if asked[argument] != value:
                raise ValueError(
                    f"The {argument} used to get the cached session is different "
                    "than the one that was used to create the session. Maybe create a new session with self.session()"
                )
        session = self._cached_session
        with session.graph.as_default(), session.as_default(), session.graph.device(_device(use_gpu, force_gpu)):
            yield session

    def test_session(
        self, graph: Graph | None = None, config: Any = None, use_gpu: bool = False, force_gpu: bool = False
    ) -> contextlib.AbstractContextManager[Session]:
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
                return session.run(tensors)
        return session.run(tensors)


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
    if unexpected := ours.keys() - theirs.keys():
        raise AssertionError(f"Found unexpected node '{{{{node {max(unexpected, key=list(ours).index)}}}}}'")
    if missing := theirs.keys() - ours.keys():
        raise AssertionError(f"Did not find expected node '{{{{node {max(missing, key=list(theirs).index)}}}}}'")
    for name, node in ours.items():
        one, other = (_without_random_names(found, checkpoint_v2, hash_table_shared_name) for found in (node, theirs[name]))
        for field in ("op", "device", "input"):
            if (value := getattr(one, field)) != (wanted := getattr(other, field)):
                raise AssertionError(f"Node named {name!r} has {field} {value!r} that is not expected {wanted!r}")
        for attr in sorted({*one.attr, *other.attr}):
            if one.attr[attr] != other.attr[attr]:
                values = f"with value: {one.attr[attr]} that does not match expected: {other.attr[attr]}"
                raise AssertionError(f"Node named {name!r} has attr {attr!r} {values}")


def _without_random_names(node: Any, of_files: bool, of_tables: bool) -> Any:
    kept = type(node)()
    kept.CopyFrom(node)
    if of_files and node.op == "Const" and any(map(_TEMPORARY.match, node.attr["value"].tensor.string_val)):
        del kept.attr["value"]
    if of_tables and node.op == "HashTableV2" and _TABLE.match(node.attr["shared_name"].s):
        del kept.attr["shared_name"]
    return kept
