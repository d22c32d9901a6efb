"""Products that BLAS adds to arrays in place, beside NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from tfexp.runtime import blas

BUILT_WITH = np.show_config(mode="dicts")["Build Dependencies"]["blas"]["name"]
LAYOUTS = {
    "rows": lambda a: a,
    "columns": np.asfortranarray,
    "every other row": lambda a: np.repeat(a, 2, 0)[::2],
    "every other column": lambda a: np.repeat(a, 2, 1)[:, ::2],
    "backwards": lambda a: a[::-1].copy()[::-1],
    "part of a larger one": lambda a: np.pad(a, 3)[3:-3, 3:-3],
    "one row for all": lambda a: np.broadcast_to(a[:1], a.shape),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_product_is_added(layout: str, dtype: type) -> None:
    random = np.random.default_rng(3)
    target, left, right = (random.standard_normal(dims).astype(dtype) for dims in ((5, 7), (5, 3), (3, 7)))
    left, right = LAYOUTS[layout](left), LAYOUTS[layout](right)
    expected = target - 0.5 * (left @ right)
    blas.add_product(target, -0.5, left, right)
    np.testing.assert_allclose(target, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dims", [(1, 1, 1), (1, 5, 1), (5, 1, 3), (5, 3, 0), (0, 3, 5), (1, 7, 4)])
def test_sizes_of_one_and_none(dims: tuple[int, int, int]) -> None:
    rows, columns, inner = dims
    target, left, right = np.ones((rows, columns), np.float32), np.ones((rows, inner)), np.ones((inner, columns))
    blas.add_product(target, 2.0, left.astype(np.float32), right.astype(np.float32))
    np.testing.assert_array_equal(target, np.full((rows, columns), 1 + 2 * inner, np.float32))


def test_a_target_that_is_no_whole_array_is_updated_where_it_is() -> None:
    whole = np.zeros((4, 6), np.float32)
    blas.add_product(whole[:, ::2], 1.0, np.ones((4, 2), np.float32), np.ones((2, 3), np.float32))
    np.testing.assert_array_equal(whole, np.tile(np.float32([2, 0]), (4, 3)))


def test_nothing_times_an_infinite_product_is_nan() -> None:
    target = np.zeros((2, 2), np.float32)
    with np.errstate(invalid="ignore"):
        blas.add_product(target, 0.0, np.full((2, 1), np.inf, np.float32), np.ones((1, 2), np.float32))
    assert np.isnan(target).all()


@pytest.mark.skipif(BUILT_WITH != "scipy-openblas", reason="NumPy is not from its own wheels, which have that BLAS")
def test_numpys_own_wheels_have_the_functions() -> None:
    assert blas.product_adder() is blas.add_product


def test_numpy_does_it_where_no_function_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blas, "_NAMES", ())
    blas._gemm.cache_clear()
    try:
        assert blas.product_adder() is None
        target = np.ones((2, 3), np.float32)
        blas.add_product(target, 2.0, np.ones((2, 5), np.float32), np.ones((5, 3), np.float32))
        np.testing.assert_array_equal(target, np.full((2, 3), 11, np.float32))
    finally:
        blas._gemm.cache_clear()
