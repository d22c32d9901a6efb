"""A decorator of functions that are converted when they are called. Source: `tf.contrib.autograph.convert`, TF 1.15."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from tfexp.autograph import conversion
from tfexp.autograph.feature import Feature, features


def convert(
    recursive: bool = False,
    optional_features: Feature | Iterable[Feature] | None = None,
    user_requested: bool = True,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The decorator of a function whose control flow may depend on tensors; `recursive`: also that of what it calls.

    What cannot be converted runs as it is, with a warning. user_requested changes nothing.
    """
    chosen = features(optional_features)

    def decorator(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            return conversion.convert(function, chosen, recursive)(*args, **kwargs)

        return call

    return decorator
