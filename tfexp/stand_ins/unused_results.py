"""`tensorflow.python.util.tf_should_use`: results of which nothing was made are said in the log. Source: TF 1.15."""

from __future__ import annotations

import functools
import traceback
import types
from typing import Any

from tfexp.core.log import get_logger
from tfexp.graph.unpublished import executing_eagerly_outside_functions
from tfexp.stand_ins.decorators import make_decorator
from tfexp.stand_ins.stacks import convert_stack, extract_stack

# What the words go to: tests put something else in their place.
tf_logging = types.SimpleNamespace(
    error=lambda *words: get_logger().error(*words), fatal=lambda *words: get_logger().critical(*words)
)


@functools.cache
def _watched(kind: type) -> type:
    """A subclass of `kind` whose values answer with those of another one, and tell of it when nobody asked."""

    def take(self: Any, name: str) -> Any:
        own = object.__getattribute__
        own(self, "_should_use")["used"] = True
        if name == "mark_used":
            return lambda: None
        return getattr(own(self, "_should_use")["value"], name)

    def put(self: Any, name: str, value: Any) -> None:
        setattr(object.__getattribute__(self, "_should_use")["value"], name, value)

    def end(self: Any) -> None:
        state = object.__getattribute__(self, "_should_use")
        if not state["used"]:
            state["say"](state["words"])

    names = {"__slots__": ("_should_use",), "__getattribute__": take, "__setattr__": put, "__del__": end}
    return type(kind.__name__, (kind,), names)


def _add_should_use_warning(x: Any, fatal_error: bool = False) -> Any:
    """`x`, which the log will name (as fatal, if asked for) when it is freed and nothing of it was ever used.

    None and what is made in eager execution come back as they are.
    """
    if x is None or (executing_eagerly_outside_functions() and not fatal_error):
        return x
    made = "".join(traceback.format_list([frame[:4] for frame in convert_stack(extract_stack()[:-1])]))
    words = (
        f"Object was never used (type {type(x)}): {x}\nIts mark_used() says that this is right. It was made here:\n{made}"
    )
    kind: Any = type(x)
    result: Any = object.__new__(_watched(kind))
    say = tf_logging.fatal if fatal_error else tf_logging.error
    object.__setattr__(result, "_should_use", {"value": x, "used": False, "words": words, "say": say})
    return result


def should_use_result(fn: Any = None, *, fatal_error: bool = False) -> Any:
    """Decorates a function whose result is of no use unless something is made of it."""
    if fn is None:
        return functools.partial(should_use_result, fatal_error=fatal_error)

    def watched(*args: Any, **kwargs: Any) -> Any:
        return _add_should_use_warning(fn(*args, **kwargs), fatal_error)

    return make_decorator(fn, watched, "should_use_result")


def must_use_result_or_fatal(fn: Any) -> Any:
    """As `should_use_result`, and the log calls it fatal."""
    return should_use_result(fn, fatal_error=True)
