"""`tf.estimator.inputs.pandas_input_fn`: a data frame as the input of an Estimator. Source: TF 1.15.

The one file that imports pandas, which need not be installed, when first needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.estimator.feeding import batches


def pandas_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int = 1000,
    num_threads: int = 1,
    target_column: str = "target",
) -> Callable[[], Any]:
    """A function that gives (a dict of the columns of `x`, the labels), or the dict alone where `y` is None.

    `x` is a DataFrame, `y` a Series of the same index or a DataFrame (then labels are a dict too); `target_column` is what a
    Series is called in between, which must be no column. ValueError, TypeError; ImportError without pandas.
    """
    import pandas as pd

    if not isinstance(x, pd.DataFrame):
        raise TypeError(f"x must be a pandas.DataFrame; got {type(x).__name__}")
    if not isinstance(shuffle, bool):
        raise ValueError(
            "shuffle must be provided and explicitly set as boolean (it is recommended to set it as True for training); "
            f"got {shuffle}"
        )
    labels = {} if y is None else dict(y.items()) if isinstance(y, pd.DataFrame) else {target_column: y}
    features = dict(x.items())
    both = sorted(set(features) & set(labels))
    if both:
        raise ValueError(f"Cannot use {', '.join(map(repr, both))} for labels: x has columns of that name.")
    if y is not None and not x.index.equals(y.index):
        raise ValueError(f"Index for x and y are mismatched.\nIndex for x: {x.index}\nIndex for y: {y.index}\n")

    def input_fn() -> Any:
        columns = [column.to_numpy() for column in (*features.values(), *labels.values())]
        _, *tensors = batches(columns, batch_size, num_epochs, shuffle, queue_capacity, num_threads)
        made = dict(zip((*features, *labels), tensors, strict=True))
        given = {name: made[name] for name in features}
        if y is None:
            return given
        return given, {name: made[name] for name in labels} if isinstance(y, pd.DataFrame) else made[target_column]

    return input_fn
