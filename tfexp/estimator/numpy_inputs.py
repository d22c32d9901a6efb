"""`tf.estimator.inputs.numpy_input_fn`: arrays as the input of an Estimator. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tfexp.estimator.feeding import batches


def numpy_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int = 1000,
    num_threads: int = 1,
) -> Callable[[], Any]:
    """A function of no arguments that gives (features, labels), or the features alone where `y` is None.

    `x` is an array or a dict of them, with a row for each example; so is `y`, whose names must be others. `num_epochs`
    None: without end. `shuffle` must be said. ValueError, and TypeError for what is no array, also from the function.
    """
    if not isinstance(shuffle, bool):
        raise ValueError(
            "shuffle must be provided and explicitly set as boolean (it is recommended to set it as True for training); "
            f"got {shuffle}"
        )

    def input_fn() -> Any:
        features, labels = _named(x, "x"), {} if y is None else _named(y, "y")
        _check_rows(features, labels)
        names = [*features, *labels]
        arrays = [*features.values(), *labels.values()]
        _, *tensors = batches(arrays, batch_size, num_epochs, shuffle, queue_capacity, num_threads)
        made = dict(zip(names, tensors, strict=True))

        def like(given: Any, part: Mapping[Any, np.ndarray]) -> Any:
            return {name: made[name] for name in given} if isinstance(given, Mapping) else made[next(iter(part))]

        return like(x, features) if y is None else (like(x, features), like(y, labels))

    return input_fn


def _named(given: Any, what: str) -> dict[Any, np.ndarray]:
    """The arrays by name, sorted; an array alone has a name that nobody else has."""
    if not isinstance(given, Mapping):
        if not isinstance(given, np.ndarray):
            raise TypeError(f"{what} must be a dict or array; got {type(given).__name__}")
        return {(what,): given}
    if not given:
        raise ValueError("x cannot be an empty dict" if what == "x" else "y cannot be empty dict, use None instead.")
    for name, array in given.items():
        if not isinstance(array, np.ndarray):
            raise TypeError(f"{what}[{name!r}] must be an array; got {type(array).__name__}")
    return {name: given[name] for name in sorted(given)}


def _check_rows(features: Mapping[Any, np.ndarray], labels: Mapping[Any, np.ndarray]) -> None:
    both = sorted(set(features) & set(labels))
    if both:
        raise ValueError(f"{len(both)} duplicate keys are found in both x and y: {both}")
    if len({len(array) for array in (*features.values(), *labels.values())}) > 1:

        def shapes(arrays: Mapping[Any, np.ndarray]) -> Any:
            found = {name: array.shape for name, array in arrays.items()}
            return next(iter(found.values())) if any(isinstance(name, tuple) for name in found) else found

        raise ValueError(
            "Length of tensors in x and y is mismatched. All elements in x and y must have the same length.\n"
            f"Shapes in x: {shapes(features)}\nShapes in y: {shapes(labels) if labels else None}"
        )
