"""Metrics that are objects, eagerly and in graphs."""

import pytest

import tfexp as tf
from tfexp.runtime.eager import eager_mode

tfe = tf.contrib.eager


class Total(tfe.metrics.Metric):
    def build(self, *args):
        self.total = self.add_variable("total", (), tf.float64, tf.zeros_initializer())

    def call(self, values):
        self.total.assign_add(tf.reduce_sum(tf.cast(values, tf.float64)))
        return values

    def result(self):
        return tf.identity(self.total)


def test_means_add_up():
    with eager_mode():
        mean = tfe.metrics.Mean("the mean", dtype=tf.float32)
        mean([1.0, 2.0, 3.0])
        mean(tf.constant(4.0), weights=tf.constant(2.0))
        assert (mean.result().numpy(), mean.numer.numpy(), mean.denom.numpy()) == (14.0 / 5, 14, 5)
        other = tfe.metrics.Mean(dtype=tf.float32)
        other([6.0])
        mean.aggregate([other])
        assert mean.value().numpy() == pytest.approx(20 / 6)
        mean.init_variables()
        assert mean.denom.numpy() == 0
        with pytest.raises(ValueError, match="same type"):
            mean.aggregate([tfe.metrics.Accuracy()])


@pytest.mark.parametrize(
    ("name", "labels", "predictions", "wanted"),
    [
        ("Accuracy", [1, 2, 3], [1, 2, 4], 2 / 3),
        ("CategoricalAccuracy", [[0, 1], [1, 0]], [[0.2, 0.8], [0.1, 0.9]], 0.5),
        ("SparseAccuracy", [1, 1], [[0.2, 0.8], [0.1, 0.9]], 1.0),
        ("BinaryAccuracy", [[1], [0], [0]], [[0.8], [0.9], [0.1]], 2 / 3),
    ],
)
@pytest.mark.parametrize("eager", [False, True])
def test_accuracies(name, labels, predictions, wanted, eager):
    metric = getattr(tfe.metrics, name)(*([0.5] if name == "BinaryAccuracy" else []))
    if eager:
        with eager_mode():
            metric(tf.constant(labels), tf.constant(predictions))
            assert metric.result().numpy() == pytest.approx(wanted)
        return
    with tf.Graph().as_default(), tf.Session() as session:
        update = metric(tf.constant(labels), tf.constant(predictions))
        session.run(metric.init_variables())
        session.run(update)
        assert session.run(metric.result()) == pytest.approx(wanted)


def test_variables_in_graphs_are_local():
    with tf.Graph().as_default(), tf.Session() as session:
        total, everyones = Total(), tfe.metrics.Mean("for all", use_global_variables=True)
        update = total(tf.constant([1.0, 2.0]))
        everyones(1.0)
        assert [v.op.name for v in tf.local_variables()] == ["Total/total"]
        assert [v.op.name for v in tf.global_variables()] == ["for_all/numer", "for_all/denom"]
        session.run(total.init_variables())
        for _ in range(2):
            session.run(update)
        assert session.run(total.result()) == 6


def test_variables_are_made_in_build_and_saved(tmp_path):
    with eager_mode():
        total = Total()
        total([1.0, 2.0])
        with pytest.raises(RuntimeError, match="build"):
            total.add_variable("more")
        path = tf.train.Checkpoint(metric=total).save(str(tmp_path / "c"))
    assert "metric/total/.ATTRIBUTES/VARIABLE_VALUE" in dict(tf.train.list_variables(path))


def test_other_shapes_are_refused():
    with eager_mode(), pytest.raises(tf.errors.InvalidArgumentError, match="unequal"):
        tfe.metrics.Accuracy()([1, 2], [1, 2, 3])
