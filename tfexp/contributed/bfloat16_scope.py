"""Variables in float32 that are read as bfloat16. Source: `tf.tpu.bfloat16_scope`, TF 1.15."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from tfexp.core import dtypes
from tfexp.ops.cast import cast
from tfexp.ops.variable_scope import VariableScope, variable_scope


@contextlib.contextmanager
def bfloat16_scope() -> Iterator[VariableScope]:
    """Within, `tf.get_variable` gives for bfloat16 the cast of a variable in float32, others as they are."""
    with variable_scope("", custom_getter=_kept_in_float32) as scope:
        yield scope


def _kept_in_float32(getter: Callable[..., Any], name: str, *args: Any, dtype: Any = None, **kwargs: Any) -> Any:
    """A custom getter of variables."""
    if dtype != dtypes.bfloat16:
        return getter(name, *args, dtype=dtype, **kwargs)
    return cast(getter(name, *args, dtype=dtypes.float32, **kwargs), dtypes.bfloat16)
