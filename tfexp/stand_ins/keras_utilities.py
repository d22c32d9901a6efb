"""What `generic_utils` and `mode_keys` of `tensorflow.python.keras.utils` have besides what is public.

Source: TF 1.15.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from tfexp.keras.layers import function_code


class ModeKeys:
    """What a model is run for."""

    TRAIN = "train"
    TEST = "test"
    PREDICT = "predict"


def func_load(
    code: Any, defaults: Any = None, closure: Any = None, globs: dict[str, Any] | None = None
) -> Callable[..., Any]:
    """The function that `func_dump` took apart; `code` may be all that it gave. globs: the names that it finds."""
    dumped = code if isinstance(code, tuple | list) else (code, defaults, closure)
    return function_code.load(dumped, {} if globs is None else globs)


def has_arg(fn: Callable[..., Any], name: str, accept_all: bool = False) -> bool:
    """Whether a function can be given an argument by this name; accept_all: one that takes any counts."""
    parameters = inspect.signature(fn).parameters
    if accept_all and any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
        return True
    return name in parameters and parameters[name].kind in (
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        inspect.Parameter.KEYWORD_ONLY,
    )


def make_batches(size: int, batch_size: int) -> list[tuple[int, int]]:
    """(start, end) of the batches of `size` samples; the last may be smaller."""
    return [(start, min(size, start + batch_size)) for start in range(0, size, batch_size)]


def slice_arrays(arrays: Any, start: Any = None, stop: int | None = None) -> Any:
    """From `start` to `stop`, or at the places that `start` lists, of one array or of each in a list; None stays."""
    if isinstance(start, list) and stop is not None:
        raise ValueError("The stop argument has to be None if the value of start is a list.")
    if arrays is None:
        return [None]
    if isinstance(arrays, list):
        return [None if one is None else _slice(one, start, stop) for one in arrays]
    return _slice(arrays, start, stop)


def _slice(array: Any, start: Any, stop: int | None) -> Any:
    return array[np.asarray(start)] if hasattr(start, "__len__") else array[start:stop]


def to_list(x: Any) -> list[Any]:
    """A list as it is; anything else in a list of its own."""
    return x if isinstance(x, list) else [x]


def is_all_none(structure: Any) -> bool:
    """Whether there is nothing but None."""
    values = structure if isinstance(structure, (list, tuple)) else [structure]
    return all(one is None for one in values)


def check_for_unexpected_keys(name: str, input_dict: Mapping[str, Any], expected_values: Iterable[str]) -> None:
    """ValueError for keys that are not expected."""
    unknown = set(input_dict) - set(expected_values)
    if unknown:
        raise ValueError(f"Unknown entries in {name} dictionary: {sorted(unknown)}. Expected are {list(expected_values)}")


def validate_kwargs(
    kwargs: Mapping[str, Any], allowed_kwargs: Iterable[str], error_message: str = "Keyword argument not understood:"
) -> None:
    """TypeError for the first argument that is not allowed."""
    for name in kwargs:
        if name not in allowed_kwargs:
            raise TypeError(error_message, name)
