"""Products of parts of matrices, added to parts of another one: NumPy has no function for that, BLAS has.

The runtime says how BLAS is called (`install`); until then, and for what BLAS does not know, NumPy makes each product and
adds it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

Term = tuple[int, int, int, int, int]
"""First rows in the target, the left and the right matrix; rows of the product; length of the inner dimension."""

AddProducts = Callable[[np.ndarray, np.ndarray, np.ndarray, Sequence[Term], bool], None]


def add_products(
    target: np.ndarray, left: np.ndarray, right: np.ndarray, terms: Sequence[Term], transposed: bool = False
) -> None:
    """For each term (to, at, by, rows, inner): target[to : to + rows] += left[at : at + rows] @ right[by : by + inner].

    With `transposed` it is left[at : at + inner].T. The matrices lie in C order and have one dtype.
    """
    _add_products(target, left, right, terms, transposed)


def add_by_numpy(target: np.ndarray, left: np.ndarray, right: np.ndarray, terms: Sequence[Term], transposed: bool) -> None:
    """`add_products` without BLAS's own addition."""
    for to, at, by, rows, inner in terms:
        factor = left[at : at + inner].T if transposed else left[at : at + rows]
        target[to : to + rows] += factor @ right[by : by + inner]


_add_products: AddProducts = add_by_numpy


def install(function: AddProducts) -> None:
    """Let `add_products` be this function from now on."""
    global _add_products
    _add_products = function
