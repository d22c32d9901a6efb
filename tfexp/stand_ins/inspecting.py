"""`tensorflow.python.util.tf_inspect`: signatures, looked for below TensorFlow's decorators. Source: TF 1.15."""

from __future__ import annotations

import functools
import inspect
from collections import namedtuple
from typing import Any, cast

from tfexp.core.op import Op
from tfexp.stand_ins.decorators import unwrap

ArgSpec = namedtuple("ArgSpec", ["args", "varargs", "keywords", "defaults"])
FullArgSpec = inspect.FullArgSpec


def _target(obj: Any) -> Any:
    return unwrap(obj)[1]


def _said_by_decorator(obj: Any) -> Any:
    """The arguments that the outermost decorator which knows its own has; None where no decorator does."""
    return next((said for one in unwrap(obj)[0] if (said := getattr(one, "decorator_argspec", None))), None)


def getfullargspec(obj: Any) -> inspect.FullArgSpec:
    """The arguments of a function, or of the call of an object; without annotations, which TensorFlow's functions lack."""
    said = _said_by_decorator(obj)
    if isinstance(said, ArgSpec):
        return inspect.FullArgSpec(said.args, said.varargs, said.keywords, said.defaults, [], None, {})
    if said is not None:
        return cast(inspect.FullArgSpec, said)
    target = _target(obj)
    if isinstance(target, functools.partial) and unwrap(target.func)[0]:
        target = functools.partial(_target(target.func), *target.args, **target.keywords)
    if not (inspect.isroutine(target) or inspect.isclass(target) or isinstance(target, functools.partial | Op)):
        target = type(target).__call__
    return inspect.getfullargspec(target)._replace(annotations={})


def getargspec(obj: Any) -> ArgSpec:
    """(positional arguments, name of `*args`, name of `**kwargs`, defaults): nothing of keyword-only arguments.

    What a `functools.partial` binds by name is a default. ValueError where one without follows it, and for a name that the
    function does not take.
    """
    said = _said_by_decorator(obj)
    if said is not None:
        return cast(ArgSpec, said)
    target = _target(obj)
    if isinstance(target, functools.partial):
        return _of_partial(target)
    spec = getfullargspec(target)
    return ArgSpec(spec.args, spec.varargs, spec.varkw, spec.defaults)


def _of_partial(partial: functools.partial[Any]) -> ArgSpec:
    spec = getargspec(partial.func)
    if not spec.keywords and not set(partial.keywords) <= set(spec.args):
        raise ValueError("Function does not have **kwargs parameter, but contains an unknown partial keyword.")
    free = spec.args[len(partial.args) :]
    defaults = _defaults(spec) | partial.keywords
    first = next((index for index, name in enumerate(free) if name in defaults), len(free))
    lacking = [name for name in free[first:] if name not in defaults]
    if lacking:
        raise ValueError(
            f"Some arguments {lacking} do not have default value, but they are positioned after those with default values. "
            "This can not be expressed with ArgSpec."
        )
    return ArgSpec(free, spec.varargs, spec.keywords, tuple(defaults[name] for name in free[first:]) or None)


def _defaults(spec: Any) -> dict[str, Any]:
    """{argument: its default}"""
    defaults = spec.defaults or ()
    return dict(zip(spec.args[len(spec.args) - len(defaults) :], defaults, strict=True))


def getcallargs(*func_and_positional: Any, **named: Any) -> dict[str, Any]:
    """{argument: value} as a call would bind them, an object's own (`self`, `cls`) with them; nothing of `*args`."""
    func, *positional = func_and_positional
    owner = getattr(func, "__self__", None)
    spec = getfullargspec(func)
    given = [owner, *positional] if owner is not None else positional
    return _defaults(spec) | dict(zip(spec.args, given, strict=False)) | named


def getdoc(obj: Any) -> str | None:
    return inspect.getdoc(obj)


def getsource(obj: Any) -> str:
    return inspect.getsource(_target(obj))


def getfile(obj: Any) -> str:
    return inspect.getfile(_target(obj))


def getmodule(obj: Any) -> Any:
    return inspect.getmodule(_target(obj))


def isfunction(obj: Any) -> bool:
    """Whether it is a function, as ops are in TensorFlow."""
    target = _target(obj)
    return inspect.isfunction(target) or isinstance(target, Op)


def ismethod(obj: Any) -> bool:
    return inspect.ismethod(_target(obj))


def isclass(obj: Any) -> bool:
    return inspect.isclass(_target(obj))


def isroutine(obj: Any) -> bool:
    return inspect.isroutine(_target(obj))


def isbuiltin(obj: Any) -> bool:
    return inspect.isbuiltin(_target(obj))


def isgeneratorfunction(obj: Any) -> bool:
    return inspect.isgeneratorfunction(_target(obj))


def getsourcefile(obj: Any) -> str | None:
    return inspect.getsourcefile(_target(obj))


def getsourcelines(obj: Any) -> tuple[list[str], int]:
    return inspect.getsourcelines(_target(obj))
