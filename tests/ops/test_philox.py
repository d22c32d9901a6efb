"""The Philox generator by itself: the published answers, and that a stream is the same however it is cut."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfexp.ops import philox
from tfexp.ops.philox import CHUNK, Philox, PhiloxState

# The known answers that Salmon et al. distribute with Random123 for philox4x32-10: counter, key, block (low word first).
KNOWN = [
    ([0, 0, 0, 0], [0, 0], [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
    ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
    (
        [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
        [0xA4093822, 0x299F31D0],
        [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
    ),
]


def joined(words: list[int]) -> int:
    return sum(word << (32 * i) for i, word in enumerate(words))


@pytest.mark.parametrize(("counter", "key", "block"), KNOWN)
def test_known_answers(counter: list[int], key: list[int], block: list[int]) -> None:
    assert Philox(joined(key), joined(counter)).words(4).tolist() == block


@given(
    key=st.integers(0, 2**64 - 1),
    counter=st.one_of(st.integers(0, 2**128 - 1), st.just(2**64 - 3), st.just(2**128 - 3)),
    skipped=st.integers(0, 7),
    count=st.integers(0, 13),
)
def test_skipping_is_leaving_out(key: int, counter: int, skipped: int, count: int) -> None:
    stream = Philox(key, counter)
    np.testing.assert_array_equal(stream.skip(skipped).blocks(count), stream.blocks(skipped + count)[skipped:])


def test_chunks_join_without_a_seam() -> None:
    stream = Philox.from_seeds(5, -7)
    whole = stream.blocks(2 * CHUNK + 3)
    assert [start for start, _ in stream.chunks(2 * CHUNK + 3)] == [0, CHUNK, 2 * CHUNK]
    np.testing.assert_array_equal(whole[CHUNK - 1 : CHUNK + 2], stream.skip(CHUNK - 1).blocks(3))
    np.testing.assert_array_equal(stream.words(4 * CHUNK + 2)[-3:], whole.reshape(-1)[4 * CHUNK - 1 : 4 * CHUNK + 2])


def test_threads_get_stretches_of_their_own() -> None:
    state = PhiloxState(1, 2)
    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(lambda n: (n, state.take_for(n)), range(1, 201)))
    taken.sort(key=lambda pair: pair[1].counter)
    for (values, stream), (_, following) in pairwise(taken):
        assert stream.skip(256 * values) == following


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
def test_uniform_is_below_one(dtype: type) -> None:
    ones, zeros = np.full((1, 4), 0xFFFFFFFF, np.uint32), np.zeros((1, 4), np.uint32)
    highest = philox.uniform_from_words(ones, dtype).astype(np.float64)
    mantissa = {np.float16: 10, ml_dtypes.bfloat16: 7, np.float32: 23, np.float64: 52}[dtype]
    assert (highest == 1 - 2.0**-mantissa).all()
    assert (philox.uniform_from_words(zeros, dtype).astype(np.float64) == 0).all()


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_integers_keep_to_their_range(dtype: type) -> None:
    stream, limits = Philox.from_seeds(3, 4), np.iinfo(dtype)
    for low, high in ((-3, 4), (0, 8), (int(limits.min), int(limits.max)), (int(limits.max) - 5, int(limits.max))):
        drawn = philox.uniform_int(stream, 1021, low, high, dtype)
        assert drawn.dtype == dtype
        assert low <= drawn.min() <= drawn.max() < high
    assert set(philox.uniform_int(stream, 1021, -3, 4, dtype).tolist()) == set(range(-3, 4))


def test_what_is_refused() -> None:
    with pytest.raises(TypeError, match="no uniform distribution for dtype int32"):
        philox.uniform(Philox(1, 2), 3, np.int32)
    with pytest.raises(ValueError, match="need low < high, got 5 >= 5"):
        philox.uniform_int(Philox(1, 2), 3, 5, 5, np.int32)
