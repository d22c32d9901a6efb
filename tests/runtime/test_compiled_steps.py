"""Steps compiled by XLA: the same results, types, errors and freedoms as without, and what is said about compiling."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.runtime import gpus, jit

jax = pytest.importorskip("jax", reason="the xla extra is not installed: pip install 'tfexp[xla]'")

COMPILED = tf.ConfigProto(graph_options=tf.GraphOptions(optimizer_options=tf.OptimizerOptions(global_jit_level=1)))


@pytest.fixture(autouse=True)
def graph(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[tf.Graph]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp()))
    with tf.Graph().as_default() as graph:
        yield graph


def segments(session: tf.Session, fetches: Any, feeds: Any = None) -> list[str]:
    """The steps of the plan that are compiled."""
    return [line for line in repr(session.explain(fetches, feeds)).splitlines() if "_CompiledSegment" in line]


def _regression(optimizer: Any, use_resource: bool = False) -> tuple[Any, Any, dict[Any, Any]]:
    random = np.random.default_rng(3)
    x, y = tf.placeholder(tf.float32, [None, 5]), tf.placeholder(tf.float32, [None, 2])
    hidden = tf.nn.relu(tf.matmul(x, tf.get_variable("w", initializer=_floats(random, 5, 7), use_resource=use_resource)))
    loss = tf.losses.mean_squared_error(y, tf.matmul(hidden, tf.get_variable("u", initializer=_floats(random, 7, 2))))
    train = optimizer.minimize(loss, tf.train.get_or_create_global_step())
    return train, loss, {x: _floats(random, 11, 5), y: _floats(random, 11, 2)}


def _floats(random: np.random.Generator, *shape: int) -> np.ndarray:
    return random.standard_normal(shape).astype(np.float32)


OPTIMIZERS = {
    "gradient descent": lambda: tf.train.GradientDescentOptimizer(0.1),
    "momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "adagrad": lambda: tf.train.AdagradOptimizer(0.1),
    "adadelta": lambda: tf.train.AdadeltaOptimizer(1.0),
    "rmsprop": lambda: tf.train.RMSPropOptimizer(0.01),
    "centered rmsprop": lambda: tf.train.RMSPropOptimizer(0.01, centered=True),
    "adam": lambda: tf.train.AdamOptimizer(0.01),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_follows_the_same_trajectory(name: str) -> None:
    train, loss, feeds = _regression(OPTIMIZERS[name](), use_resource=name in ("momentum", "adam"))
    trajectories = []
    for config in (None, COMPILED):
        with tf.Session(config=config) as session:
            session.run(tf.global_variables_initializer())
            losses = [session.run([loss, train], feeds)[0] for _ in range(5)]
            if config is not None:
                (line,) = segments(session, [loss, train], feeds)
                assert "Apply" not in repr(session.explain([loss, train], feeds)).replace(line, "")
            trajectories.append([losses, *session.run(tf.trainable_variables())])
    for actual, wanted in zip(*reversed(trajectories), strict=True):
        np.testing.assert_allclose(actual, wanted, rtol=2e-5, atol=1e-6)


def test_types_of_64_bits_are_exact_and_the_programs_own_jax_is_left_alone() -> None:
    x = tf.placeholder(tf.int64, [3])
    y = tf.placeholder(tf.float64, [3])
    whole = (x * 3 + 2**40) * x - x
    real = tf.exp(y) * 1e-12 + 1.0 - y * 2.0
    with tf.Session(config=COMPILED) as session:
        for _ in range(2):
            integers, floats = session.run([whole, real], {x: [1, 2, 3], y: [0.1, 0.2, 0.3]})
        assert segments(session, [whole, real], {x: [1, 2, 3], y: [0.1, 0.2, 0.3]})
    values = np.arange(1, 4)
    assert integers.dtype == np.int64 and floats.dtype == np.float64
    np.testing.assert_array_equal(integers, (values * 3 + 2**40) * values - values)
    np.testing.assert_allclose(floats, np.exp([0.1, 0.2, 0.3]) * 1e-12 + 1 - 2 * np.array([0.1, 0.2, 0.3]), rtol=1e-15)
    assert not jax.config.jax_enable_x64 and jax.numpy.ones(1).dtype == np.float32
    assert jax.config.jax_compilation_cache_dir is None


@pytest.mark.parametrize("size", [7, 1 << 17])
def test_fetches_are_the_callers_to_write_to_and_feeds_stay_as_they_are(size: int) -> None:
    x = tf.placeholder(tf.float32, [size])
    y = tf.sin(x) * 2.0 + x - 1.0
    fed = np.linspace(0, 1, size, dtype=np.float32)
    wanted = np.sin(fed) * 2 + fed - 1
    with tf.Session(config=COMPILED) as session:
        session.run(y, {x: fed})
        first = session.run(y, {x: fed})
        second = session.run(y, {x: fed})
        assert segments(session, y, {x: fed})
    np.testing.assert_allclose(first, wanted, atol=1e-6)
    first[:] = 0
    np.testing.assert_allclose(second, wanted, atol=1e-6)
    np.testing.assert_array_equal(fed, np.linspace(0, 1, size, dtype=np.float32))


def test_everyone_sees_a_variable_that_compiled_steps_keep(tmp_path: Any) -> None:
    train, _, feeds = _regression(tf.train.AdamOptimizer(0.01))
    w = tf.trainable_variables()[0]
    saver, clear = tf.train.Saver(), w.assign(tf.zeros_like(w))
    with tf.Session(config=COMPILED) as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(train, feeds)
        path, kept = saver.save(session, str(tmp_path / "model")), session.run(w)
        for _ in range(2):
            session.run(train, feeds)
        moved = session.run(w)
        assert not np.array_equal(moved, kept)
        saver.restore(session, path)
        np.testing.assert_array_equal(session.run(w), kept)
        for _ in range(2):
            session.run(train, feeds)
        np.testing.assert_allclose(session.run(w), moved, rtol=1e-5)
        session.run(clear)
        assert not session.run(w).any()
        assert session.run(tf.train.get_global_step()) == 5


def test_several_threads_train_one_model() -> None:
    train, loss, feeds = _regression(tf.train.GradientDescentOptimizer(0.01))
    with tf.Session(config=COMPILED) as session:
        session.run(tf.global_variables_initializer())
        for _ in range(2):
            session.run(train, feeds)
        threads = [threading.Thread(target=lambda: [session.run([train, loss], feeds) for _ in range(10)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert session.run(tf.train.get_global_step()) == 42


def test_an_uninitialized_variable_is_named() -> None:
    train, _, feeds = _regression(tf.train.GradientDescentOptimizer(0.1))
    with tf.Session(config=COMPILED) as session:
        for _ in range(2):
            with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value"):
                session.run(train, feeds)


def test_labels_that_are_no_class_are_nan() -> None:
    labels, logits = tf.placeholder(tf.int32, [3]), tf.placeholder(tf.float32, [3, 5])
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits * 2.0 + 1.0) * 3.0
    with tf.Session(config=COMPILED) as session:
        feeds = {labels: [1, 5, -1], logits: np.ones((3, 5), np.float32)}
        with pytest.raises(tf.errors.InvalidArgumentError, match="outside the valid range"), tf.Session() as plain:
            plain.run(loss, feeds)
        assert np.isnan(session.run(loss, feeds)).tolist() == [False, True, True]


def test_what_was_compiled_is_said(caplog: pytest.LogCaptureFixture) -> None:
    x = tf.placeholder(tf.float32, [3])
    y = tf.sin(x) * 2.0 + x - 1.0
    metadata, options = tf.RunMetadata(), tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    with tf.Session(config=COMPILED) as session, caplog.at_level(logging.INFO, logger="tensorflow"):
        for _ in range(2):
            session.run(y, {x: [1, 2, 3]})
        (line,) = segments(session, y, {x: [1, 2, 3]})
        session.run(y, {x: [1, 2, 3]}, options, metadata)
    assert "XLA, 4 nodes, compiled in " in line
    assert [r.getMessage().partition(" in ")[0] for r in caplog.records] == ["sub: 4 nodes compiled by XLA"]
    labels = [node.timeline_label for device in metadata.step_stats.dev_stats for node in device.node_stats]
    assert any("[XLA, 4 nodes, compiled in " in label for label in labels)


def test_marks_are_enough(graph: tf.Graph) -> None:
    x = tf.placeholder(tf.float32, [3])
    with tf.xla.experimental.jit_scope():
        y = tf.sin(x) * 2.0 + x - 1.0
    with tf.Session() as session:
        first, second = (session.run(y, {x: [1, 2, 3]}) for _ in range(2))
        assert segments(session, y, {x: [1, 2, 3]})
    np.testing.assert_allclose(first, second, rtol=1e-6)


def test_a_gpu_that_jax_sees_has_its_nodes_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """The CPU poses as the GPU."""
    from tfexp.runtime.xla import devices

    monkeypatch.setattr(gpus, "has_plugin", lambda: True)
    monkeypatch.setattr(devices, "gpus", lambda: jax.devices("cpu"))
    x = tf.placeholder(tf.float32, [3])
    with tf.device("/gpu:0"):
        y = tf.sin(x) * 2.0 + x - 1.0
    with tf.Session() as session:
        assert [(d.device_type, d.is_virtual) for d in session.list_devices()] == [("CPU", False), ("GPU", False)]
        for _ in range(2):
            result = session.run(y, {x: [1, 2, 3]})
        assert segments(session, y, {x: [1, 2, 3]})
    np.testing.assert_allclose(result, np.sin([1, 2, 3]) * 2 + [0, 1, 2], rtol=1e-6)


@pytest.mark.skipif(not gpus.has_plugin(), reason="no plugin of JAX's for GPUs is installed: pip install 'jax[cuda12]'")
def test_a_model_trains_on_a_gpu() -> None:
    with tf.device("/gpu:0"):
        train, loss, feeds = _regression(tf.train.AdamOptimizer(0.01))
    config = tf.ConfigProto(allow_soft_placement=True)
    with tf.Session(config=config) as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run([loss, train], feeds)[0] for _ in range(20)]
        assert segments(session, [loss, train], feeds)
    assert losses[-1] < losses[0]


def test_what_is_compiled_is_found_by_the_next_process(tmp_path: Any) -> None:
    program = (
        "import tfexp as tf\n"
        "x = tf.placeholder(tf.float32, [3]); y = x\n"
        "for i in range(60): y = tf.sin(y * 1.5) + tf.exp(-y)\n"
        "c = tf.ConfigProto(); c.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.ON_2\n"
        "s = tf.Session(config=c)\n"
        "for _ in range(2): print(s.run(y, {x: [1, 2, 3]}))\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, env={**_environment(), "XDG_CACHE_HOME": str(tmp_path)})
    assert any((tmp_path / "tfexp" / "xla").iterdir())


def _environment() -> dict[str, str]:
    import os

    return dict(os.environ)


def test_a_session_that_compiles_asks_for_jax_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(tf.errors.UnimplementedError, match=r"pip install 'tfexp\[xla\]'"):
        tf.Session(config=COMPILED)
