"""Random features that stand for a Gaussian kernel, and the hinge loss of many classes."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import tfexp as tf

kernel_methods = tf.contrib.kernel_methods
LOGITS = np.array([[1.0, 2.0, 3.0], [0.5, 0.1, -1.0], [0.0, 0.0, 4.0]], np.float32)


@pytest.fixture
def session() -> Iterator[tf.Session]:
    with tf.Graph().as_default(), tf.Session() as one:
        yield one


def test_features_are_tensorflows(session: tf.Session) -> None:
    mapper = kernel_methods.RandomFourierFeatureMapper(3, 5, stddev=2.0, seed=7, name="mapper")
    assert (mapper.name, mapper.input_dim, mapper.output_dim) == ("mapper", 3, 5)
    found = session.run([mapper.map(tf.ones([2, 3])), mapper.map(tf.fill([2, 3], 0.5))])
    wanted = [[0.629211, 0.624099, -0.632281, 0.609784, 0.210527], [0.623818, 0.632452, -0.598816, 0.632297, 0.145142]]
    for features, row in zip(found, wanted, strict=True):
        np.testing.assert_allclose(features, [row, row], rtol=1e-5)


def test_products_of_features_are_nearly_the_kernel(session: tf.Session) -> None:
    x = np.random.default_rng(5).normal(size=(7, 3)).astype(np.float32)
    mapped = session.run(kernel_methods.RandomFourierFeatureMapper(3, 5000, stddev=1.5).map(tf.constant(x)))
    kernel = np.exp(-((x[:, None] - x) ** 2).sum(-1) / (2 * 1.5**2))
    np.testing.assert_allclose(mapped @ mapped.T, kernel, atol=0.06)


@pytest.mark.parametrize(("shape", "message"), [([2, 4], "expected 3 input features"), ([3], "Got 1 instead")])
def test_what_cannot_be_mapped(shape: list[int], message: str) -> None:
    with tf.Graph().as_default(), pytest.raises(Exception, match=message) as caught:
        kernel_methods.RandomFourierFeatureMapper(3, 5).map(tf.ones(shape))
    assert type(caught.value).__name__ == "InvalidShapeError"


def test_the_loss_is_by_how_much_a_wrong_class_comes_too_near(session: tf.Session) -> None:
    loss, logits = kernel_methods.sparse_multiclass_hinge_loss, tf.constant(LOGITS)
    alone = loss(tf.constant([0, 0, 2]), logits, reduction="none")
    mean = loss([[0], [0], [2]], LOGITS)
    weighted = loss([0, 0, 2], LOGITS, weights=[[1.0], [0.0], [2.0]])
    found = session.run([alone, mean, weighted, tf.gradients(alone, logits)[0]])
    np.testing.assert_allclose(found[0], [3.0, 0.6, 0.0], rtol=1e-6)
    np.testing.assert_allclose(found[1:3], [1.2, 1.5], rtol=1e-6)
    np.testing.assert_array_equal(found[3], [[-1, 0, 1], [-1, 1, 0], [0, 0, 0]])
    assert tf.losses.get_losses() == [alone, mean, weighted]


def test_labels_and_logits_that_do_not_fit(session: tf.Session) -> None:
    loss = kernel_methods.sparse_multiclass_hinge_loss
    with pytest.raises(ValueError, match="Invalid dtype for labels"):
        loss([0.0, 0.0, 2.0], LOGITS)
    with pytest.raises(ValueError, match="labels should have rank"):
        loss(1, LOGITS)
    with pytest.raises(ValueError, match="logits should have rank 2"):
        loss([0, 1, 2], LOGITS[0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="x < y"):
        session.run(loss([0, 1, 3], LOGITS))


def test_a_linear_model_of_mapped_features_finds_a_circle(tmp_path: Path) -> None:
    x = np.random.default_rng(3).normal(size=(200, 2)).astype(np.float32)
    inside = ((x**2).sum(1) < 1.3).astype(np.int64)
    column = tf.contrib.layers.real_valued_column("x", dimension=2)
    classifier = kernel_methods.KernelLinearClassifier(
        model_dir=str(tmp_path),
        optimizer=tf.train.FtrlOptimizer(20.0),
        kernel_mappers={
            column: [
                kernel_methods.RandomFourierFeatureMapper(2, 100),
            ]
        },
    )

    def inputs() -> tuple[dict[str, tf.Tensor], tf.Tensor]:
        return {"x": tf.constant(x)}, tf.constant(inside)

    classifier.fit(input_fn=inputs, steps=20)
    assert classifier.evaluate(input_fn=inputs, steps=1)["accuracy"] > 0.95
    assert classifier.get_variable_value("linear/linear_model/x_MAPPED/weights").shape == (100, 1)


def test_classifiers_need_columns_or_mappers() -> None:
    with pytest.raises(ValueError, match="at least one of feature_columns, kernel_mappers"):
        kernel_methods.KernelLinearClassifier()
    with pytest.raises(ValueError, match="Invalid kernel mappers"):
        kernel_methods.KernelLinearClassifier(kernel_mappers={tf.feature_column.numeric_column("x"): [3]})
