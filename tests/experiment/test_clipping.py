"""`optimizer.clip_norm`: what a step is made of is clipped, whoever made it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from run_files import records

import tfexp as tf
from tfexp.experiment.clipping import Clipping
from tfexp.experiment.optimizers import Sgd


def variables(folder: Path) -> dict[str, Any]:
    path = tf.train.latest_checkpoint(str(folder / "checkpoints"))
    return {name: tf.train.load_variable(path, name) for name, _ in tf.train.list_variables(path)}


@pytest.mark.parametrize(("norm", "factor"), [(2.5, 0.5), (5.0, 1.0), (7.0, 1.0)])
def test_gradients_are_scaled_together(norm: float, factor: float) -> None:
    """Rows of an embedding that are looked up twice count with the sum of their gradients: 3 = 1 + 2 here, and 4."""
    with tf.Graph().as_default(), tf.Session() as session:
        rows = tf.Variable(np.zeros([3, 1], np.float32))
        dense, unused = tf.Variable([0.0]), tf.Variable([7.0])
        looked_up = tf.nn.embedding_lookup(rows, [1, 1])
        loss = tf.reduce_sum(looked_up * [[1.0], [2.0]]) + tf.reduce_sum(4.0 * dense)
        optimizer = Sgd(learning_rate=1.0, clip_norm=norm).clipping(1.0)
        train = optimizer.apply_gradients(optimizer.compute_gradients(loss, [rows, dense, unused]))
        session.run(tf.global_variables_initializer())
        session.run(train)
        moved = session.run([rows, dense, unused])
    assert np.ravel(moved[0]).tolist() == pytest.approx([0.0, -3.0 * factor, 0.0])
    assert (moved[1].tolist(), moved[2].tolist()) == (pytest.approx([-4.0 * factor]), [7.0])


def test_nothing_to_learn_is_the_optimizers_error() -> None:
    with tf.Graph().as_default():
        optimizer = Sgd(learning_rate=1.0, clip_norm=1.0).clipping(1.0)
        with pytest.raises(ValueError, match="No gradients provided"):
            optimizer.apply_gradients([(None, tf.Variable(1.0))])


def test_without_a_norm_the_graph_is_as_it_was() -> None:
    assert not isinstance(Sgd(learning_rate=1.0).clipping(1.0), Clipping)


@pytest.mark.usefixtures("tasks_are_threads")
def test_together_they_clip_as_one_process_does(cli: Callable, tmp_path: Path) -> None:
    common = ["model=softmax", "train.steps=5", "train.eval_every=0", "train.batch_size=30", "optimizer=momentum"]
    between = ["cluster=2workers", "cluster.hosting=process", "update=sync"]
    peers = ["cluster=2peers", "cluster.hosting=process"]
    for way, words in {"one": [], "between": between, "peers": peers}.items():
        ended = cli(*common, *words, "optimizer.clip_norm=0.05", f"hydra.run.dir={way}")
        assert ended.code == 0, ended.err
    assert cli(*common, "hydra.run.dir=unclipped").code == 0
    one = variables(tmp_path / "one")
    for way in ("between", "peers"):
        for name, value in variables(tmp_path / way).items():
            assert value == pytest.approx(one[name], rel=2e-5, abs=2e-6), (way, name)
    losses = [records(tmp_path / way)[-1]["train"]["loss"] for way in ("one", "unclipped")]
    assert losses[0] > 1.001 * losses[1], "it does clip"


def test_a_norm_must_be_above_zero(cli: Callable) -> None:
    ended = cli("optimizer.clip_norm=0")
    assert (ended.code, ended.err) == (2, "tfexp: optimizer.clip_norm: 0.0 must be above 0\n")
