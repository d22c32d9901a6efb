"""`tensorflow.python.util.function_utils` and `.lazy_loader`: names and arguments of callables, modules on first use."""

from __future__ import annotations

import functools
import importlib
import inspect
import types
from typing import Any

from tensorboard.compat.proto import config_pb2

from tfexp.stand_ins.decorators import unwrap


def _innermost(func: Any) -> Any:
    while isinstance(func, functools.partial):
        func = func.func
    return func


def fn_args(fn: Any) -> tuple[str, ...]:
    """The names of a callable's arguments, without `self` and without those that a `functools.partial` has given.

    Those of what TensorFlow's decorators decorate.
    """
    fn = unwrap(fn)[1]
    if isinstance(fn, functools.partial):
        given = set(fn.keywords)
        return tuple(name for name in fn_args(fn.func)[len(fn.args) :] if name not in given)
    if hasattr(fn, "__call__") and not inspect.isroutine(fn) and not inspect.isclass(fn):  # noqa: B004
        fn = fn.__call__
    names = tuple(inspect.getfullargspec(fn).args)
    return names[1:] if inspect.ismethod(fn) else names


def has_kwargs(fn: Any) -> bool:
    """Whether a callable takes any keyword. TypeError for what is no callable."""
    fn = _innermost(unwrap(fn)[1])
    if not callable(fn):
        raise TypeError(f"fn should be a function-like object, but is of type {type(fn)}.")
    return inspect.getfullargspec(fn if inspect.isroutine(fn) else fn.__call__).varkw is not None


def get_func_name(func: Any) -> str:
    """What a message calls a callable. ValueError for what is none."""
    func = unwrap(func)[1]
    if not callable(func):
        raise ValueError("Argument must be callable")
    if inspect.isfunction(func):
        return func.__name__
    if inspect.ismethod(func):
        return f"{type(func.__self__).__name__}.{func.__func__.__name__}"
    return str(type(func))


def get_func_code(func: Any) -> types.CodeType | None:
    """The code of a Python callable, None for one that is not written in Python. ValueError for what is none."""
    func = _innermost(func)
    if not callable(func):
        raise ValueError("Argument must be callable")
    if inspect.isroutine(func):
        return getattr(func, "__code__", None)
    return getattr(func.__call__, "__code__", None)


class LazyLoader(types.ModuleType):
    """A module that is imported when its first attribute is asked for; then it replaces itself in its user's globals."""

    def __init__(self, local_name: str, parent_module_globals: dict[str, Any], name: str):
        super().__init__(name)
        self._local_name = local_name
        self._globals = parent_module_globals

    def _load(self) -> types.ModuleType:
        module = importlib.import_module(self.__name__)
        self._globals[self._local_name] = module
        self.__dict__.update(module.__dict__)
        return module

    def __getattr__(self, item: str) -> Any:
        return getattr(self._load(), item)

    def __dir__(self) -> list[str]:
        return dir(self._load())


def get_disabled_rewriter_config() -> bytes:
    """A ConfigProto, as bytes, with which no step's graph is rewritten."""
    config = config_pb2.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    return config.SerializeToString()
