"""Initializers: their configurations, what they refuse, how wide they spread. Their graphs: golden `variables`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.ops import initializers as init
from tfexp.ops import matrix_initializers as matrix

CONFIGS: list[tuple[Any, dict[str, Any]]] = [
    (init.Zeros(), {"dtype": "float32"}),
    (init.Ones(tf.int32), {"dtype": "int32"}),
    (init.Constant([1, 2], tf.int64), {"value": [1, 2], "dtype": "int64"}),
    (init.RandomUniform(), {"minval": 0.0, "maxval": None, "seed": None, "dtype": "float32"}),
    (init.RandomUniform(-1, 1, 3), {"minval": -1, "maxval": 1, "seed": 3, "dtype": "float32"}),
    (init.RandomNormal(), {"mean": 0.0, "stddev": 1.0, "seed": None, "dtype": "float32"}),
    (init.TruncatedNormal(1.0, 2.0, 4, tf.float64), {"mean": 1.0, "stddev": 2.0, "seed": 4, "dtype": "float64"}),
    (init.UniformUnitScaling(1.15, 2), {"factor": 1.15, "seed": 2, "dtype": "float32"}),
    (
        init.VarianceScaling(2.0, "fan_avg", "uniform", 1),
        {"scale": 2.0, "mode": "fan_avg", "distribution": "uniform", "seed": 1, "dtype": "float32"},
    ),
    (
        init.lecun_uniform(3),
        {"scale": 1.0, "mode": "fan_in", "distribution": "uniform", "seed": 3, "dtype": "float32"},
    ),
    (
        init.he_normal(),
        {"scale": 2.0, "mode": "fan_in", "distribution": "truncated_normal", "seed": None, "dtype": "float32"},
    ),
    (init.GlorotUniform(), {"seed": None, "dtype": "float32"}),
    (init.GlorotNormal(5, tf.float64), {"seed": 5, "dtype": "float64"}),
    (matrix.Orthogonal(2.0, 3), {"gain": 2.0, "seed": 3, "dtype": "float32"}),
    (matrix.Identity(2.0), {"gain": 2.0, "dtype": "float32"}),
]


@pytest.mark.parametrize(("initializer", "config"), CONFIGS)
def test_configurations_go_round(initializer: Any, config: dict[str, Any]) -> None:
    assert initializer.get_config() == config
    again = type(initializer).from_config(config)
    assert type(again) is type(initializer)
    assert again.get_config() == config


REFUSED = [
    (lambda: init.Constant(object()), TypeError, "Invalid type for initial value"),
    (lambda: init.Constant([1, 2, 3], verify_shape=True)([2, 3]), TypeError, "shape"),
    (lambda: init.Constant(list(range(7)))([2, 3]), ValueError, "Too many elements provided"),
    (lambda: init.Constant(1.5)([2], tf.int32), TypeError, "int32"),
    (lambda: init.VarianceScaling(0.0), ValueError, "`scale` must be positive float"),
    (lambda: init.VarianceScaling(mode="fan"), ValueError, "Invalid `mode` argument:.*fan"),
    (lambda: init.VarianceScaling(distribution="x"), ValueError, "Invalid `distribution` argument:.*x"),
    (lambda: init.VarianceScaling(dtype=tf.int32), ValueError, "Expected floating point type, got <dtype: 'int32'>"),
    (lambda: init.TruncatedNormal(dtype=tf.int32), ValueError, "Expected floating point type, got <dtype: 'int32'>"),
    (lambda: init.UniformUnitScaling(dtype=tf.int32), ValueError, "Expected floating point type, got <dtype: 'int32'>"),
    (lambda: init.RandomUniform(dtype=tf.int32)([2]), ValueError, "Must specify maxval for integer dtype"),
    (lambda: matrix.Orthogonal()([5]), ValueError, "must be at least two-dimensional"),
    (lambda: matrix.Identity()([3]), ValueError, "can only be used for 2D matrices"),
]


@pytest.mark.parametrize(("call", "error", "message"), REFUSED)
def test_what_is_refused(call: Any, error: type[Exception], message: str) -> None:
    with tf.Graph().as_default(), pytest.raises(error, match=message):
        call()


class Part:
    """The upper part of a larger variable."""

    full_shape = (600, 50)
    var_offset = (0, 0)


SPREADS = [
    (init.VarianceScaling(2.0), (600, 50), None, 2 / 600),
    (init.VarianceScaling(2.0, "fan_out"), (600, 50), None, 2 / 50),
    (init.VarianceScaling(mode="fan_avg", distribution="uniform"), (3, 5, 70, 50), None, 1 / (15 * 60)),
    (init.VarianceScaling(distribution="untruncated_normal"), (3000,), None, 1 / 3000),
    (init.VarianceScaling(2.0), (60, 50), Part, 2 / 600),
    (init.GlorotNormal(dtype=tf.float64), (600, 50), None, 2 / 650),
    (init.UniformUnitScaling(2.0), (30, 20, 50), None, 4 / 600),
    (init.UniformUnitScaling(2.0), (60, 50), Part, 4 / 600),
    (init.RandomNormal(stddev=3.0), (600, 50), None, 9.0),
]


@pytest.mark.parametrize(("initializer", "shape", "part", "variance"), SPREADS)
def test_variances(initializer: Any, shape: tuple[int, ...], part: Any, variance: float) -> None:
    with tf.Graph().as_default():
        tf.set_random_seed(7)
        value = initializer(shape, partition_info=part)
        with tf.Session() as session:
            drawn = session.run(value)
    assert drawn.shape == shape
    assert drawn.var() == pytest.approx(variance, rel=0.1)
    assert abs(drawn.mean()) < 4 * np.sqrt(variance / drawn.size)


@pytest.mark.parametrize("shape", [(7, 3), (3, 7), (2, 5, 3)])
def test_orthogonal(shape: tuple[int, ...]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        value = session.run(matrix.Orthogonal(2.0, seed=3, dtype=tf.float64)(shape)).reshape(-1, shape[-1])
    product = value.T @ value if value.shape[0] > value.shape[1] else value @ value.T
    np.testing.assert_allclose(product, 4.0 * np.eye(len(product)), atol=1e-12)


def test_identity_and_a_part_of_it() -> None:
    class Lower:
        full_shape = (5, 3)
        var_offset = (2, 0)

    with tf.Graph().as_default(), tf.Session() as session:
        whole, part = session.run([matrix.Identity(2.0)((5, 3)), matrix.Identity(2.0)((3, 3), partition_info=Lower)])
    np.testing.assert_array_equal(whole, 2 * np.eye(5, 3))
    np.testing.assert_array_equal(part, 2 * np.eye(5, 3)[2:])


def test_whole_numbers_have_a_least_one() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        found = session.run(tf.random_uniform_initializer(maxval=10, dtype=tf.int32, seed=1)([3]))
    assert found.dtype == np.int32 and found.tolist() == [7, 9, 3]
