"""`tensorflow.python.autograph.impl.api` and `core.converter`: calls that are converted, as options say. Source: TF 1.15."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tfexp.autograph import conversion
from tfexp.autograph.directives import do_not_convert
from tfexp.autograph.feature import Feature, features
from tfexp.autograph.operators import Operators
from tfexp.contributed.converting import convert
from tfexp.stand_ins.translation_status import ControlStatusCtx, Status


class ConversionOptions:
    """How to convert: with `recursive` what is called as well; the other two arguments change nothing."""

    def __init__(
        self,
        recursive: bool = False,
        user_requested: bool = False,
        internal_convert_user_code: bool = True,
        optional_features: Feature | Iterable[Feature] | None = Feature.ALL,
    ):
        self.recursive, self.user_requested = recursive, user_requested
        self.internal_convert_user_code = internal_convert_user_code
        self.optional_features = features(optional_features)

    def uses(self, feature: Feature) -> bool:
        """Whether a feature is among the optional ones."""
        return feature in self.optional_features

    def call_options(self) -> ConversionOptions:
        """The options of what is called."""
        return ConversionOptions(self.recursive, False, self.recursive, self.optional_features)


STANDARD_OPTIONS = ConversionOptions(recursive=True, optional_features=None)


def converted_call(
    f: Callable[..., Any],
    options: ConversionOptions,
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None,
    caller_fn_scope: Any = None,
) -> Any:
    """What the converted form of a function gives; the last argument is TensorFlow's and changes nothing."""
    how = options.optional_features
    convert_ = functools.partial(conversion.convert, features=how, recursive=options.recursive)
    return Operators(how, convert_).call(f)(*args, **(kwargs or {}))


def tf_convert(
    f: Callable[..., Any], ctx: ControlStatusCtx, convert_by_default: bool = True, user_requested: bool = False
) -> Callable[..., Any]:
    """The function as its surroundings have it: converted, with what it calls, or never."""
    by_default = ctx.status is Status.UNSPECIFIED and convert_by_default
    if by_default or ctx.status is Status.ENABLED:
        return convert(recursive=True, user_requested=user_requested)(f)
    return f if ctx.status is Status.UNSPECIFIED else do_not_convert(f)
