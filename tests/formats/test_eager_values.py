"""What becomes a tensor where ops run at once, and in which words the rest is refused. Recorded from TensorFlow 1.15."""

import numpy as np
import pytest

from tfexp.core import dtypes
from tfexp.formats.eager_values import eager_array


def test_values_have_the_types_that_graphs_give_them():
    for value, dtype, expected in (
        ([1, 2.5], None, dtypes.float32),
        (range(3), None, dtypes.int32),
        ([np.array([1, 2]), [3, 4]], None, dtypes.int32),
        ([1, True], dtypes.int64, dtypes.int64),
    ):
        assert eager_array(value, dtype)[1] is expected


@pytest.mark.parametrize(
    ("value", "dtype", "error", "message"),
    [
        ([[1, 2], [3]], dtypes.int32, ValueError, "non-rectangular Python sequence"),
        ([[1], 2], None, ValueError, "non-rectangular Python sequence"),
        ([[1, 2], [None]], None, ValueError, "non-rectangular Python sequence"),
        ([np.array([1]), np.array([1, 2])], None, ValueError, "non-rectangular Python sequence"),
        ([1, [2]], None, ValueError, "mixed types"),
        ([1, "a"], dtypes.int32, ValueError, "mixed types"),
        ([1, None], None, ValueError, "mixed types"),
        ([None, 1], dtypes.float32, ValueError, r"convert a value \(None\) with an unsupported type"),
        ({1: 2}, None, ValueError, r"convert a value \({1: 2}\) with an unsupported type \(<class 'dict'>\)"),
        ([1, 1 << 70], dtypes.int64, ValueError, "out-of-range integer"),
        ([1, 1.5], dtypes.int64, TypeError, r"Cannot convert \[1, 1.5\] to EagerTensor of dtype int64"),
        (1, dtypes.bool, TypeError, "Cannot convert 1 to EagerTensor of dtype bool"),
        (np.array([None]), None, ValueError, r"NumPy array to a Tensor \(Unsupported object type NoneType\)"),
        (np.array(["a", 1], object), None, ValueError, r"NumPy array to a Tensor \(Unsupported object type int\)"),
    ],
)
def test_what_is_refused(value, dtype, error, message):
    with pytest.raises(error, match=message):
        eager_array(value, dtype)
