"""Loops compiled by Numba: the same bits as NumPy's kernels, for what special numbers, shapes and memory there are."""

from __future__ import annotations

import importlib.util
import logging
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.plan.test_recording import BROADCASTS, operands, operations_of
from tfexp.plan.loop_source import write_loop
from tfexp.plan.recording import Recorder
from tfexp.runtime import jit

needs_numba = pytest.mark.skipif(
    importlib.util.find_spec("numba") is None, reason="the jit extra is not installed: pip install 'tfexp[jit]'"
)


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.getbasetemp()
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


def _loop(recorder: Recorder, stores: list[tuple[int, Any]]) -> tuple[Any, tuple[int, ...]]:
    from tfexp.runtime.numba.compiler import compiled_loop

    source = write_loop(recorder.finish(stores))
    return compiled_loop("node", source), source.extents


@needs_numba
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "int64", "float32", "float64"])
def test_all_operations_at_once_compute_what_numpy_does(dtype: str) -> None:
    x, y = operands(dtype)
    recorder = Recorder(x.shape)
    given = [recorder.argument(a.shape, a.dtype) for a in (x, y)]
    wanted, stores = [], []
    for n, ufunc in enumerate(operations_of(dtype), 2):
        with np.errstate(all="ignore"):
            wanted.append(ufunc(*(x, y)[: ufunc.nin]))
        recorder.argument(x.shape, wanted[-1].dtype)
        stores.append((n, ufunc(*given[: ufunc.nin])))
    loop, extents = _loop(recorder, stores)
    results = [np.empty_like(one) for one in wanted]
    assert loop(x, y, *results, *extents)
    for ufunc, actual, one in zip(operations_of(dtype), results, wanted, strict=True):
        np.testing.assert_array_equal(actual, one, ufunc.__name__)
        if one.dtype.kind == "f" and ufunc not in (np.maximum, np.minimum, np.sign):  # of zeros, NumPy takes either
            number = ~np.isnan(one)
            np.testing.assert_array_equal(np.signbit(actual[number]), np.signbit(one[number]), ufunc.__name__)


@needs_numba
@pytest.mark.parametrize("shapes", [BROADCASTS[name] for name in ("a row", "crossed", "a number")])
def test_arguments_are_broadcast_and_may_be_views_or_read_only(shapes: list[tuple[int, ...]]) -> None:
    random = np.random.default_rng(5)
    x, y = (random.standard_normal(shape).astype(np.float32) for shape in shapes)
    wanted = np.where(x > y, x - y, y * np.float32(0.5))
    recorder = Recorder(wanted.shape)
    a, b = (recorder.argument(one.shape, one.dtype) for one in (x, y))
    loop, extents = _loop(recorder, [(-1, np.where(a > b, a - b, b * 0.5))])
    number = y.item() if y.ndim == 0 else y
    for variant in (x, np.asfortranarray(x), np.repeat(x, 2, axis=-1)[..., ::2], _unaligned(x)):
        for is_writeable in (True, False):
            variant.flags.writeable = is_writeable
            result = np.empty_like(wanted)
            assert loop(variant, number, result, *extents)
            np.testing.assert_array_equal(result, wanted)
    assert not loop(np.zeros((2, 2, 2), np.float32), number, np.empty_like(wanted), *extents)


def _unaligned(array: np.ndarray) -> np.ndarray:
    memory = np.empty(array.nbytes + 1, np.uint8)
    copy = memory[1:].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def _training() -> tuple[Any, Any, dict[Any, Any]]:
    random = np.random.default_rng(3)
    x, y = tf.placeholder(tf.float32, [None, 5]), tf.placeholder(tf.float32, [None, 2])
    w = tf.get_variable("w", initializer=random.standard_normal((5, 2)).astype(np.float32))
    loss = tf.reduce_mean(tf.square(tf.nn.relu(tf.matmul(x, w) + 0.1) - y))
    train = tf.train.AdamOptimizer(0.01).minimize(loss)
    return train, loss, {x: random.standard_normal((7, 5)), y: random.standard_normal((7, 2))}


@needs_numba
def test_a_session_computes_the_same_bits_and_says_what_is_compiled(
    caplog: pytest.LogCaptureFixture, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tfexp.runtime.numba import compiler

    monkeypatch.setattr(compiler, "_WORTH_TELLING", 0.0)
    trajectories = []
    with tf.Graph().as_default(), caplog.at_level(logging.INFO, logger="tensorflow"):
        train, loss, feeds = _training()
        for config in (None, jit.with_numba()):
            with tf.Session(config=config) as session:
                session.run(tf.global_variables_initializer())
                trajectories.append([session.run([loss, train], feeds)[0] for _ in range(4)])
                plan = repr(session.explain([loss, train], feeds))
                assert ("[direct: loop of " in plan) == (config is not None)
    np.testing.assert_array_equal(*trajectories)
    assert any("ApplyAdam: its loop compiled by Numba in " in record.getMessage() for record in caplog.records)
    assert not any("has no effect" in record.getMessage() for record in caplog.records)
    assert list((cache / "tfexp" / "numba").rglob("*.nbc")), "the next process finds it"


@needs_numba
def test_rows_that_come_again_are_updated_again() -> None:
    random = np.random.default_rng(3)
    rows, indices = random.standard_normal((7, 5)).astype(np.float32), np.array([3, 0, 3, 6], np.int32)
    with tf.Graph().as_default(), tf.Session(config=jit.with_numba()) as session:
        v = tf.get_variable("v", initializer=rows)
        fed = tf.placeholder(tf.int32, [4])
        update = tf.scatter_sub(v, fed, np.ones((4, 5), np.float32) / 3)
        session.run(tf.global_variables_initializer())
        actual = session.run(update, {fed: indices})
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[1\] = -1 is not in \[0, 7\)"):
            session.run(update, {fed: [0, -1, 0, 0]})
    np.subtract.at(rows, indices, np.float32(1) / 3)
    np.testing.assert_array_equal(actual, rows)


@needs_numba
def test_a_cache_that_cannot_be_written_to_costs_time_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    recorder = Recorder((3,))
    loop, extents = _loop(recorder, [(-1, recorder.argument((3,), np.dtype(np.float32)) * 19.0 + 83.0)])
    result = np.empty(3, np.float32)
    assert loop(np.ones(3, np.float32), result, *extents)
    np.testing.assert_array_equal(result, [102.0] * 3)


@needs_numba
def test_threads_may_run_a_loop_before_it_is_compiled() -> None:
    recorder = Recorder((3,))
    loop, extents = _loop(recorder, [(-1, recorder.argument((3,), np.dtype(np.float64)) * 7.0 - 5.0)])
    results = [np.zeros(3) for _ in range(4)]
    threads = [threading.Thread(target=loop, args=(np.ones(3), result, *extents)) for result in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(results, np.full((4, 3), 2.0))


def test_without_numba_a_session_that_asks_for_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit.importlib.util, "find_spec", lambda name: None)
    config = jit.with_numba(tf.ConfigProto(intra_op_parallelism_threads=1))
    assert jit.with_numba(config) == config and config.intra_op_parallelism_threads == 1
    with pytest.raises(tf.errors.UnimplementedError, match=r"'numba' needs Numba.*pip install 'tfexp\[jit\]'"):
        tf.Session(graph=tf.Graph(), config=config)
