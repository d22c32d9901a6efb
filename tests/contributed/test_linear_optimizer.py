"""Linear models by dual coordinate ascent: SdcaModel, SDCAOptimizer in the models of tf.contrib.learn, and SVM."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfexp as tf

linear_optimizer, learn, layers = tf.contrib.linear_optimizer, tf.contrib.learn, tf.contrib.layers
random = np.random.RandomState(0)
ROWS = 23
X = random.randn(ROWS, 3).astype(np.float32)
IDS = random.randint(0, 5, ROWS)
LABELS = (X @ [1, -2, 0.5] + (IDS == 2) > 0).astype(np.float32)
WEIGHTS = (1 + np.arange(ROWS) % 3).astype(np.float32)
DESIGN = np.concatenate([X, np.eye(5)[IDS]], 1)


@pytest.fixture
def session() -> Iterator[tf.Session]:
    with tf.Graph().as_default(), tf.Session() as one:
        yield one


def examples(**changes: Any) -> dict[str, Any]:
    return {
        "sparse_features": [linear_optimizer.SparseFeatureColumn(np.arange(ROWS), IDS, np.ones(ROWS))],
        "dense_features": [tf.constant(X)],
        "example_labels": LABELS,
        "example_weights": WEIGHTS,
        "example_ids": [str(row) for row in range(ROWS)],
        **changes,
    }


def variables() -> dict[str, Any]:
    parts = [tf.Variable(tf.zeros([3]), name="a"), tf.Variable(tf.zeros([2]), name="b")]
    return {"sparse_features_weights": [parts], "dense_features_weights": [tf.Variable(tf.zeros([3]), name="d")]}


def options(loss: str, l1: float = 0.0, l2: float = 3.0) -> dict[str, Any]:
    return {"loss_type": loss, "symmetric_l1_regularization": l1, "symmetric_l2_regularization": l2}


def test_squares_come_to_the_best_weights(session: tf.Session) -> None:
    """Of which there is a formula; they, and the losses, are those of a model whose weights are in two parts."""
    given, own = examples(), variables()
    model = linear_optimizer.SdcaModel(given, own, options("squared_loss"))
    count = tf.train.get_or_create_global_step()
    step = model.update_weights(model.minimize(count))
    losses = [model.approximate_duality_gap(), model.unregularized_loss(given), model.regularized_loss(given)]
    predictions = model.predictions(given)
    session.run(tf.global_variables_initializer())
    assert np.isnan(session.run(losses[0]))
    for _ in range(40):
        session.run(step)
    best = np.linalg.solve(DESIGN.T * WEIGHTS @ DESIGN + 3 * np.eye(8), DESIGN.T * WEIGHTS @ LABELS)
    found = [*own["dense_features_weights"], *own["sparse_features_weights"][0]]
    np.testing.assert_allclose(np.concatenate(session.run(found)), best, atol=1e-4)
    np.testing.assert_allclose(session.run(predictions), DESIGN @ best, atol=1e-4)
    mean = np.average((LABELS - DESIGN @ best) ** 2 / 2, weights=WEIGHTS)
    np.testing.assert_allclose(session.run(losses), [0, mean, mean + 1.5 * best @ best / WEIGHTS.sum()], atol=1e-4)
    assert session.run(count) == 40


# What TensorFlow 1.15 has come to after 80 steps.
@pytest.mark.parametrize(
    ("loss", "l1", "l2", "unregularized", "regularized"),
    [
        ("logistic_loss", 0.0, 3.0, 0.2725, 0.3783),
        ("hinge_loss", 0.0, 3.0, 0.0968, 0.2345),
        ("poisson_loss", 0.5, 0.2, 0.6801, 0.7193),
    ],
)
def test_other_losses_come_to_what_they_come_to_in_tensorflow(
    session: tf.Session, loss: str, l1: float, l2: float, unregularized: float, regularized: float
) -> None:
    given = examples()
    model = linear_optimizer.SdcaModel(given, variables(), options(loss, l1, l2))
    step = model.update_weights(model.minimize())
    losses = [model.unregularized_loss(given), model.regularized_loss(given)]
    session.run(tf.global_variables_initializer())
    for _ in range(35):
        session.run(step)
    np.testing.assert_allclose(session.run(losses), [unregularized, regularized], atol=2e-3)


def test_predictions_are_probabilities_and_counts(session: tf.Session) -> None:
    for loss, value in (("logistic_loss", 0.5), ("poisson_loss", 1.0), ("hinge_loss", 0.0)):
        model = linear_optimizer.SdcaModel(examples(), variables(), options(loss))
        session.run(tf.global_variables_initializer())
        assert session.run(model.predictions(examples())).tolist() == [value] * ROWS


def test_checkpoints_have_tensorflows_names(session: tf.Session, tmp_path: Path) -> None:
    model = linear_optimizer.SdcaModel(examples(), variables(), options("hinge_loss"))
    session.run(tf.global_variables_initializer())
    session.run(model.minimize())
    names = [name for name, _ in tf.train.list_variables(tf.train.Saver().save(session, str(tmp_path / "model")))]
    kept = [f"{name}_unshrinked/SDCAOptimizer" for name in "abd"]
    assert names == sorted(["a", "b", "d", *kept, *(f"ShardedMutableHashTable-1-of-1-{one}" for one in ("keys", "values"))])


def test_models_that_cannot_be(session: tf.Session) -> None:
    make, fine = linear_optimizer.SdcaModel, options("squared_loss")
    for given, wanted, message in (
        ({}, fine, "examples, variables and options must all be specified"),
        (examples(), {**fine, "loss_type": "absolute"}, "Unsupported loss_type: absolute"),
        (examples(dense_features=()), fine, "dense_features must be a list"),
        (examples(example_ids=None), fine, "example_ids must be specified"),
        (examples(), {**fine, "symmetric_l1_regularization": -1.0}, "symmetric_l1_regularization should be non-negative"),
    ):
        with pytest.raises(ValueError, match=message):
            make(given, variables(), wanted)
    with pytest.raises(KeyError, match="symmetric_l2_regularization"):
        make(examples(), variables(), {"loss_type": "squared_loss", "symmetric_l1_regularization": 0.0})


# --- in the models of tf.contrib.learn -----------------------------------------------------------------------------------


def columns() -> list[Any]:
    keys = layers.sparse_column_with_integerized_feature("ids", 5)
    return [layers.real_valued_column("x", 3), keys]


def inputs() -> tuple[dict[str, Any], Any]:
    features = {
        "x": tf.constant(X),
        "ids": tf.constant(IDS[:, None]),
        "w": tf.constant(WEIGHTS),
        "name": tf.constant([str(row) for row in range(ROWS)]),
    }
    return features, tf.constant(LABELS[:, None])


def test_a_regressor_comes_to_the_best_weights(tmp_path: Path) -> None:
    optimizer = linear_optimizer.SDCAOptimizer("name", symmetric_l2_regularization=6.0, adaptive=False)
    model = learn.LinearRegressor(columns(), str(tmp_path), "w", optimizer)
    model.fit(input_fn=inputs, steps=15)
    design = np.concatenate([DESIGN, np.ones([ROWS, 1])], 1)
    best = np.linalg.solve(design.T * WEIGHTS @ design + 6 * np.eye(9), design.T * WEIGHTS @ LABELS)
    names = [f"linear/linear_model/{name}" for name in ("x/weights", "ids/weights", "bias_weights")]
    found = np.concatenate([model.get_variable_value(name).ravel() for name in names])
    np.testing.assert_allclose(found, best, atol=5e-3)


def test_a_step_of_ones_own_takes_features_that_columns_made(session: tf.Session) -> None:
    features, labels = inputs()
    raw = {name: features.pop(name) for name in ("x", "ids")}
    features |= layers.transform_features(raw, columns())
    _, weights, _ = layers.weighted_sum_from_feature_columns(features, columns(), 1)
    optimizer = linear_optimizer.SDCAOptimizer("name", symmetric_l2_regularization=3.0)
    model, step = optimizer.get_train_step(weights, "w", "squared_loss", features, labels, None)
    session.run(tf.global_variables_initializer())
    for _ in range(40):
        session.run(step)
    session.run(model.update_weights(step))
    best = np.linalg.solve(DESIGN.T * WEIGHTS @ DESIGN + 3 * np.eye(8), DESIGN.T * WEIGHTS @ LABELS)
    found = [session.run(weights[column][0]).ravel() for column in columns()]
    np.testing.assert_allclose(np.concatenate(found), best, atol=1e-4)


def test_a_support_vector_machine_separates(tmp_path: Path) -> None:
    model = learn.SVM("name", columns(), "w", str(tmp_path))
    model.fit(input_fn=inputs, steps=15)
    assert list(model.predict_classes(input_fn=inputs)) == LABELS.tolist()
    with pytest.raises(ValueError, match="probabilities"):
        model.predict_proba(input_fn=inputs)


def test_models_that_the_ascent_is_not_for(tmp_path: Path) -> None:
    optimizer = linear_optimizer.SDCAOptimizer("name")
    assert optimizer.get_name() == "SDCAOptimizer"
    with pytest.raises(ValueError, match="Kernel SVMs are not currently supported"):
        learn.SVM("name", columns(), kernels=["rbf"])
    with pytest.raises(ValueError, match="LinearEstimator does not support SDCA optimizer"):
        learn.LinearEstimator(columns(), learn.regression_head(), optimizer=optimizer)
    with pytest.raises(ValueError, match="symmetric_l2_regularization should be non-negative"):
        linear_optimizer.SDCAOptimizer("name", symmetric_l2_regularization=-1.0)
    with pytest.raises(ValueError, match="SDCAOptimizer is for two classes or one number"):
        learn.LinearClassifier(columns(), str(tmp_path), 3, optimizer=optimizer).fit(input_fn=inputs, steps=1)
