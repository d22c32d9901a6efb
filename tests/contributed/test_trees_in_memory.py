"""Boosted trees that are trained at once (tf.contrib.estimator.boosted_trees_..._train_in_memory)."""

import numpy as np
import pytest

import tfexp as tf

pytestmark = pytest.mark.usefixtures("quiet")

X = np.array([[1.0], [2.0], [3.0], [4.0]], np.float32)


def columns():
    return [tf.feature_column.bucketized_column(tf.feature_column.numeric_column("x"), [1.5, 2.5, 3.5])]


def test_trees_grow_from_examples_in_one_batch(tmp_path):
    def labelled(values):
        return lambda: tf.data.Dataset.from_tensors(({"x": tf.constant(X)}, tf.constant(values)))

    settings = {"n_trees": 2, "max_depth": 2, "learning_rate": 1.0}
    grown = tf.contrib.estimator
    numbers = labelled([[1.0], [1.0], [5.0], [5.0]])
    regressor = grown.boosted_trees_regressor_train_in_memory(numbers, columns(), str(tmp_path / "r"), **settings)
    predicted = [float(one["predictions"][0]) for one in regressor.predict(numbers)]
    np.testing.assert_allclose(predicted, [1, 1, 5, 5], rtol=1e-4)
    classes = labelled([[1.0], [0.0], [0.0], [1.0]])
    classifier = grown.boosted_trees_classifier_train_in_memory(classes, columns(), str(tmp_path / "c"), **settings)
    assert [int(one["class_ids"][0]) for one in classifier.predict(classes)] == [1, 0, 0, 1]


@pytest.mark.parametrize(
    ("labels", "settings", "message"),
    [
        ([1.0, 1.0, 1.0, 1.0], {}, "all empty"),
        ([1.0, 1.0, 5.0, 5.0], {"tree_complexity": 99.0, "pruning_mode": "post"}, "non-negative"),
    ],
)
def test_importances_are_normalized_where_something_was_gained(tmp_path, labels, settings, message):
    trees = tf.estimator.BoostedTreesRegressor(columns(), 1, str(tmp_path), n_trees=1, max_depth=2, **settings)
    trees.train(lambda: tf.data.Dataset.from_tensors(({"x": tf.constant(X)}, tf.constant(labels))), steps=1)
    with pytest.raises(AssertionError, match=message):
        trees.experimental_feature_importances(normalize=True)
