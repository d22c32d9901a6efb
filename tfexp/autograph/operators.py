"""What converted code calls, as `ag__`: one object for each way to convert."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from dataclasses import dataclass
from types import BuiltinFunctionType
from typing import Any

from tfexp.autograph import branches, lists, loops
from tfexp.autograph.builtin_functions import overload
from tfexp.autograph.feature import Feature
from tfexp.ops.array_join import stack

_BUILTIN = (BuiltinFunctionType, type)


@dataclass(frozen=True)
class Operators:
    """The operators for code that was converted with these `features`; `convert` is for the functions that it calls."""

    features: frozenset[Feature]
    convert: Callable[[Any], Any]

    if_ = staticmethod(branches.if_)
    if_exp = staticmethod(branches.if_exp)
    and_ = staticmethod(branches.and_)
    or_ = staticmethod(branches.or_)
    not_ = staticmethod(branches.not_)
    compare = staticmethod(branches.compare)
    eq = staticmethod(branches.eq)
    not_eq = staticmethod(branches.not_eq)
    assert_ = staticmethod(branches.assert_)
    while_ = staticmethod(loops.while_)
    for_ = staticmethod(loops.for_)
    append = staticmethod(lists.append)

    def call(self, function: Any) -> Any:
        """What to call in the place of a function: what it is of tensors, or its converted form."""
        # Some libraries (Ray) put a `print` of their own in the builtin's place.
        if isinstance(function, _BUILTIN) or function is builtins.print:
            return overload(function, self.features)
        if function is stack:
            return lists.stacked
        return self.convert(function)
