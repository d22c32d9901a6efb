"""Variables whose values are away: whoever looks brings them home, once, and nobody else notices."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from tfexp.core import dtypes
from tfexp.core.kernel import Ref
from tfexp.core.shape import TensorShape
from tfexp.ops.resource_state import ResourceRef
from tfexp.runtime.resident import is_away, moving, put, take


class Remote:
    """An array of another device: looked at as NumPy's, it is copied."""

    def __init__(self, values: Any):
        self._values = np.asarray(values, np.float32)
        self.shape, self.dtype = self._values.shape, self._values.dtype
        self.copies = 0

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        self.copies += 1
        return self._values.copy()


@pytest.fixture(params=[Ref, ResourceRef])
def ref(request: pytest.FixtureRequest) -> Ref:
    more = ("",) if request.param is ResourceRef else ()
    made: Ref = request.param("v", dtypes.float32, TensorShape([3]), *more)
    return made


def test_whoever_looks_brings_the_value_home(ref: Ref) -> None:
    kind, remote = type(ref), Remote([1, 2, 3])
    put(ref, remote)
    assert is_away(ref) and isinstance(ref, kind) and take(ref) is remote and remote.copies == 0
    np.testing.assert_array_equal(ref.value, [1, 2, 3])
    assert type(ref) is kind and remote.copies == 1
    ref.value[0] = 7  # its own memory from now on
    np.testing.assert_array_equal(ref.value, [7, 2, 3])
    assert take(ref) is ref.value and not is_away(ref)


def test_an_assignment_ends_it(ref: Ref) -> None:
    put(ref, Remote([1, 2, 3]))
    ref.assign(np.float32([4, 5, 6]))
    np.testing.assert_array_equal(ref.value, [4, 5, 6])
    put(ref, Remote([1, 2, 3]))
    ref.value = None
    assert ref.value is None and not is_away(ref)


def test_values_follow_each_other_without_coming_home(ref: Ref) -> None:
    first, second = Remote([1, 2, 3]), Remote([4, 5, 6])
    put(ref, first)
    put(ref, second)
    assert take(ref) is second and first.copies == second.copies == 0


def test_two_threads_that_look_find_one_array(ref: Ref) -> None:
    put(ref, Remote([1, 2, 3]))
    seen: list[Any] = []
    with moving:
        threads = [threading.Thread(target=lambda: seen.append(ref.value)) for _ in range(2)]
        for thread in threads:
            thread.start()
    for thread in threads:
        thread.join()
    assert seen[0] is seen[1] is ref.value
