"""`check_ops.assert_equal_v2` and its like: assertions with version 2's arguments (inputs, message, summarize, name)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.ops import check_compare

_INPUTS = {
    **dict.fromkeys(("equal", "none_equal", "less", "less_equal", "greater", "greater_equal"), 2),
    **dict.fromkeys(("negative", "non_negative", "positive", "non_positive"), 1),
    **dict.fromkeys(("rank", "rank_at_least", "rank_in"), 2),
}


def _second(assertion: Callable[..., Any], inputs: int) -> Callable[..., Any]:
    def second(*args: Any, message: str | None = None, summarize: int | None = None, name: str | None = None) -> Any:
        given = dict(zip(("message", "summarize", "name"), args[inputs:], strict=False))
        named = {"message": message, "summarize": summarize, "name": name, **given}
        return assertion(*args[:inputs], **named)

    second.__name__ = f"{assertion.__name__}_v2"
    return second


def __getattr__(name: str) -> Any:
    first = name.removesuffix("_v2")
    inputs = _INPUTS.get(first.removeprefix("assert_"))
    if first == name or inputs is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _second(getattr(check_compare, first), inputs)


def __dir__() -> list[str]:
    return [f"assert_{name}_v2" for name in _INPUTS]
