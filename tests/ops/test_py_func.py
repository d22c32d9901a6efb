"""Python functions as nodes: arguments, results, errors, how long they live."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from tensorboard.compat.proto import graph_pb2

import tfexp as tf
from tfexp.core import errors


@pytest.fixture(autouse=True)
def session() -> Iterator[Any]:
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def called(session: Any, function: Callable[..., Any], inputs: Any, types: Any, **kwargs: Any) -> Any:
    return session.run(tf.py_func(function, inputs, types, **kwargs))


def test_arguments_are_the_functions_own(session: Any) -> None:
    seen: list[Any] = []
    fed = tf.placeholder(tf.float32)
    values = np.float32([1, 2, 3])

    def change(array: Any, scalar: Any, text: Any, texts: Any) -> Any:
        array *= 2
        seen.extend([type(scalar), text, texts.tolist()])
        return array

    result = session.run(tf.py_func(change, [fed, np.float64(2), "a", ["b", "c"]], tf.float32), {fed: values})
    assert result.tolist() == [2, 4, 6]
    assert values.tolist() == [1, 2, 3]
    assert seen == [np.float64, b"a", [b"b", b"c"]]


def test_results_are_the_steps_own(session: Any) -> None:
    kept = np.zeros(3, np.float32)
    node = tf.py_func(lambda: kept, [], tf.float32)
    first = session.run(node)
    kept += 1
    assert first.tolist() == [0, 0, 0]
    assert session.run(node).tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        ("é", tf.string, "é".encode()),
        (np.array(["ab", "é"]), tf.string, [b"ab", "é".encode()]),
        (np.array([b"ab", b"c"]), tf.string, [b"ab", b"c"]),
        (np.array(["ab", b"c"], object), tf.string, [b"ab", b"c"]),
        (b"a\0b\0\0", tf.string, b"a\0b\0\0"),
        ([[b"a\0", "é\0"]], tf.string, [b"a\0", "é\0".encode()]),
        (7, tf.int64, 7),
        (True, tf.bool, True),
        ((np.float32(2),), tf.float32, 2),
        (np.asfortranarray(np.arange(6.0).reshape(2, 3)), tf.float64, [[0, 1, 2], [3, 4, 5]]),
    ],
)
def test_what_becomes_of_results(session: Any, value: Any, dtype: Any, expected: Any) -> None:
    result = called(session, lambda: value, [], dtype)
    assert (result.tolist() if isinstance(result, (np.ndarray, np.generic)) else result) == expected


@pytest.mark.parametrize(
    ("value", "types", "error", "text"),
    [
        (None, tf.float32, errors.InvalidArgumentError, "returns 0 values, but expects to see 1 values."),
        (1.0, [], errors.InvalidArgumentError, "returns 1 values, but expects to see 0 values."),
        ((1.0, 2.0), tf.float64, errors.InvalidArgumentError, "returns 2 values, but expects to see 1 values."),
        (1.0, tf.float32, errors.InvalidArgumentError, r"0-th value returned by pyfunc_\d+ is double, but expects float"),
        (1j, tf.complex64, errors.InvalidArgumentError, "is complex128, but expects complex64"),
        ("a", tf.float32, errors.InvalidArgumentError, "is string, but expects float"),
        (np.array(["a", 3], object), tf.string, errors.InternalError, "Unsupported object type int"),
    ],
)
def test_results_that_do_not_fit(session: Any, value: Any, types: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        called(session, lambda: value, [], types, name="mine")


@pytest.mark.parametrize(
    ("raised", "error"),
    [
        (ValueError("why"), errors.InvalidArgumentError),
        (TypeError("why"), errors.InvalidArgumentError),
        (StopIteration("why"), errors.OutOfRangeError),
        (MemoryError("why"), errors.ResourceExhaustedError),
        (NotImplementedError("why"), errors.UnimplementedError),
        (KeyError("why"), errors.UnknownError),
        (errors.NotFoundError(None, None, "why"), errors.UnknownError),
    ],
)
def test_what_functions_raise(session: Any, raised: Exception, error: Any) -> None:
    def fails() -> None:
        raise raised

    with pytest.raises(error, match=rf"{type(raised).__name__}: '?why'?\nTraceback (?s:.*) in fails\n(?s:.*)node mine"):
        session.run(tf.py_func(fails, [], tf.float32, name="mine"))


@pytest.mark.usefixtures("only_new_garbage")
def test_a_function_lives_as_long_as_its_graph() -> None:
    graph = tf.Graph()
    with graph.as_default():
        node = tf.py_func(lambda: np.float32(3), [], tf.float32)
        dataset = tf.data.Dataset.range(2).map(lambda i: tf.py_func(lambda v: v + 1, [i], tf.int64))
        following = dataset.make_one_shot_iterator().get_next()
        definition = graph.as_graph_def()
        gc.collect()
        with tf.Session() as session:
            assert session.run(node) == 3
            assert [session.run(following) for _ in range(2)] == [1, 2]
    copy = graph_pb2.GraphDef()
    copy.node.add().CopyFrom(definition.node[0])
    del graph, node, session, dataset, following
    gc.collect()
    with tf.Graph().as_default(), tf.Session() as session:
        (orphan,) = tf.import_graph_def(copy, return_elements=["PyFunc:0"], name="")
        with pytest.raises(errors.InvalidArgumentError, match=r"callback with key=pyfunc_\d+ (?s:.*)in the process"):
            session.run(orphan)


def test_on_a_server_of_this_process() -> None:
    server = tf.train.Server.create_local_server()
    with tf.Graph().as_default(), tf.Session(server.target) as session:
        x = tf.placeholder(tf.float32)
        assert session.run(tf.py_func(lambda a: a * 2, [x], tf.float32), {x: 3}) == 6


def test_stateful_functions_run_each_time(session: Any) -> None:
    calls: list[int] = []

    def count() -> np.int64:
        calls.append(1)
        return np.int64(len(calls))

    one, other = tf.py_func(count, [], tf.int64), tf.py_func(count, [], tf.int64)
    assert sorted(session.run([one, other])) == [1, 2]
    assert sorted(session.run([one, other])) == [3, 4]


def test_eager() -> None:
    from tfexp.runtime.eager import eager_mode

    with eager_mode():
        doubled: Any = tf.py_func(lambda a: a * 2, [np.float32([1, 2])], tf.float32)
        assert doubled.numpy().tolist() == [2, 4]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ([("part", np.float32)], "Unsupported numpy data type"),
        ("datetime64[D]", "Unsupported numpy type: NPY_DATETIME"),
        ("timedelta64[s]", "Unsupported numpy type: NPY_TIMEDELTA"),
    ],
)
def test_arrays_that_no_tensor_holds(session: Any, kind: Any, text: str) -> None:
    with pytest.raises(errors.InternalError, match=f"^{text}"):
        called(session, lambda: np.zeros([2], kind), [], [tf.float32])


def test_what_stands_for_no_results() -> None:
    assert tf.py_func(lambda: None, [], [], stateful=False) == []
    assert tf.py_func(lambda: None, [], []).type == "PyFunc"


def test_the_exception_comes_again_behind_its_traceback(session: Any) -> None:
    def refuse() -> None:
        raise ValueError("not this")

    with pytest.raises(errors.InvalidArgumentError, match=r"(?s)^ValueError: not this.*in refuse.*\nValueError: not this\n"):
        called(session, refuse, [], [])
