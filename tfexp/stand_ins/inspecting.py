"""`tensorflow.python.util.tf_inspect`: signatures, looked for below TensorFlow's decorators. Source: TF 1.15."""

from __future__ import annotations

import functools
import inspect
from collections import namedtuple
from typing import Any

from tfexp.core.op import Op
from tfexp.stand_ins.decorators import unwrap

ArgSpec = namedtuple("ArgSpec", ["args", "varargs", "keywords", "defaults"])
FullArgSpec = inspect.FullArgSpec

_VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _target(obj: Any) -> Any:
    return unwrap(obj)[1]


def getfullargspec(obj: Any) -> inspect.FullArgSpec:
    """The arguments of a function, or of the call of an object; without annotations, which TensorFlow's functions lack."""
    target = _target(obj)
    if not (inspect.isroutine(target) or inspect.isclass(target) or isinstance(target, functools.partial | Op)):
        target = type(target).__call__
    return inspect.getfullargspec(target)._replace(annotations={})


def getargspec(obj: Any) -> ArgSpec:
    """(positional arguments, name of `*args`, name of `**kwargs`, defaults): nothing of keyword-only arguments."""
    spec = getfullargspec(obj)
    return ArgSpec(spec.args, spec.varargs, spec.varkw, spec.defaults)


def getcallargs(*func_and_positional: Any, **named: Any) -> dict[str, Any]:
    """{argument: value} as a call would bind them, and what `**kwargs` takes beside them."""
    func, *positional = func_and_positional
    bound = inspect.signature(_target(func)).bind(*positional, **named)
    bound.apply_defaults()
    kinds = {name: parameter.kind for name, parameter in bound.signature.parameters.items()}
    values = {name: value for name, value in bound.arguments.items() if kinds[name] not in _VARIABLE}
    for name, value in bound.arguments.items():
        if kinds[name] is inspect.Parameter.VAR_KEYWORD:
            values |= value
    return values


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
