"""BoundedTensorSpec: what actions and observations may be."""

import copy
import pickle

import numpy as np
import pytest

import tfexp as tf

Bounded = tf.contrib.framework.BoundedTensorSpec


def test_bounds_are_arrays_of_the_dtype_that_nobody_writes() -> None:
    spec = Bounded([2, 3], tf.float32, 0, [1, 2, 3], "n")
    assert spec.minimum.dtype == spec.maximum.dtype == np.float32 and spec.maximum.shape == (3,)
    with pytest.raises(ValueError, match="read-only"):
        spec.minimum[...] = 1
    assert repr(spec) == (
        "BoundedTensorSpec(shape=(2, 3), dtype=tf.float32, name='n', minimum=array(0., dtype=float32), "
        "maximum=array([1., 2., 3.], dtype=float32))"
    )


def test_specs_are_equal_by_shape_dtype_name_and_bounds() -> None:
    spec = Bounded([2], tf.int32, 0, 1, "n")
    assert spec == Bounded((2,), "int32", [0, 0], 1, "n") == pickle.loads(pickle.dumps(spec)) == copy.deepcopy(spec)
    others = [Bounded([3], tf.int32, 0, 1, "n"), Bounded([2], tf.int32, 0, 2, "n"), Bounded([2], tf.int32, 0, 1)]
    assert all(spec != other for other in [*others, tf.TensorSpec([2], tf.int32, "n")])
    with pytest.raises(TypeError, match="unhashable"):
        hash(spec)


def test_bounds_of_other_specs_are_those_of_the_dtype() -> None:
    made = Bounded.from_spec(tf.TensorSpec([2], tf.int8, "q"))
    assert (made.minimum, made.maximum, made.name) == (-128, 127, "q")
    bounded = Bounded([2], tf.int32, 0, 1)
    assert Bounded.from_spec(bounded) == bounded and bounded.is_compatible_with(tf.TensorSpec([None], tf.int32))
    assert type(Bounded.from_tensor(tf.zeros([2]))) is tf.TensorSpec
    assert tf.TensorSpec.from_spec(bounded) == tf.TensorSpec([2], tf.int32)


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ((None, 1), "minimum and maximum must be provided"),
        (([1, 2, 3], 4), "minimum is not compatible with shape"),
        ((0, [1, 2, 3]), "maximum is not compatible with shape"),
    ],
)
def test_bounds_that_are_none(bounds: tuple[object, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Bounded([2], tf.int32, *bounds)
