"""Data sets whose elements a function gives, one at each call, from what another function began with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.core.errors import FailedPreconditionError, OpError, OutOfRangeError, UnimplementedError
from tfexp.core.log import get_logger
from tfexp.ops.dataset import COMMON, Dataset, DatasetIterator, Element, FromRecipe, State, define_dataset
from tfexp.ops.dataset_functions import Function, with_arguments

generator_dataset = define_dataset(
    "GeneratorDataset(init_func_other_args: Tinit_func_args, next_func_other_args: Tnext_func_args, "
    "finalize_func_other_args: Tfinalize_func_args) -> (handle: variant) {init_func: func; next_func: func; finalize_func: "
    "func; Tinit_func_args: list(type) >= 0; Tnext_func_args: list(type) >= 0; Tfinalize_func_args: list(type) >= 0; "
    f"{COMMON}}} #stateful"
)


class _Generator(DatasetIterator):
    """`begin` gives what is handed to `give` for each element, until that raises OutOfRangeError, and to `end` then."""

    def __init__(self, begin: Function, give: Function, end: Function):
        self._begin, self._give, self._end = begin, give, end
        self._state: list[Any] | None = None
        self._ended = False

    def next(self) -> Element | None:
        if self._ended:
            return None
        if self._state is None:
            self._state = list(self._begin([]))
        try:
            return self._give(self._state)
        except OutOfRangeError:
            self.close()
            return None

    def save(self) -> State:
        raise FailedPreconditionError(None, None, "The position of a generator cannot be saved: its function is stateful.")

    def restore(self, state: State) -> None:
        raise UnimplementedError(None, None, "A generator cannot go on in the middle")

    def close(self) -> None:
        state, self._state = self._state, None
        self._ended = True
        if state is not None:
            self._end(state)

    def __del__(self) -> None:
        try:
            self.close()
        except OpError as error:  # nobody is there to be told; a graph that went first took its Python functions along
            get_logger().debug("Ending the iterator of a generator failed: %s", error)


@generator_dataset.kernel("CPU")
def _(
    ctx: Any,
    init_arguments: Sequence[Any],
    next_arguments: Sequence[Any],
    finalize_arguments: Sequence[Any],
    *,
    init_func: Any,
    next_func: Any,
    finalize_func: Any,
) -> Dataset:
    return FromRecipe(
        _Generator,
        with_arguments(ctx, init_func, init_arguments),
        with_arguments(ctx, next_func, next_arguments),
        with_arguments(ctx, finalize_func, finalize_arguments),
    )
