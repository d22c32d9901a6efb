"""What a stream hands out does not depend on how it is asked: one run at a time, or many computed ahead."""

import numpy as np
import pytest

from tfexp.ops.philox import Philox, PhiloxState, uniform, uniform_int


@pytest.mark.parametrize("values", [1, 2, 3, 7, 64, 65])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_repeated_small_draws_are_those_of_the_stream(values, dtype):
    state, stream = PhiloxState(5, 9), Philox.from_seeds(5, 9)
    for run in range(140):
        expected = uniform(stream.skip(run * values * 256), values, dtype)
        np.testing.assert_array_equal(uniform(state.take_for(values), values, dtype), expected)


def test_draws_of_changing_sizes():
    state, stream, at = PhiloxState(5, 9), Philox.from_seeds(5, 9), 0
    for values in [1, 1, 1, 3, 3, 1, 1, 1, 100, 100, 1, 1]:
        expected = uniform_int(stream.skip(at), values, 0, 1000, np.int64)
        np.testing.assert_array_equal(uniform_int(state.take_for(values), values, 0, 1000, np.int64), expected)
        at += values * 256


def test_what_was_handed_out_belongs_to_who_asked():
    state = PhiloxState(5, 9)
    for _ in range(3):
        draw = state.take_for(4)
        first = draw.words(4)
        second = draw.words(4)
        np.testing.assert_array_equal(first, second)
        first[:] = 0
        assert second.any()
