"""`tensorflow.python.framework`'s `test_combinations` and `combinations`: a test for each combination. Source: TF 1.15."""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import types
import unittest
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from absl.testing import parameterized

from tfexp.graph.behavior import v2_behavior_enabled
from tfexp.graph.graph import Graph
from tfexp.runtime.eager import eager_mode


class NamedObject:
    """An object that its name stands for in the names of tests; attributes and calls are the object's."""

    def __init__(self, name: str, obj: Any):
        self._name = name
        self._obj = obj

    def __getattr__(self, name: str) -> Any:
        return getattr(self._obj, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._obj(*args, **kwargs)

    def __repr__(self) -> str:
        return self._name


# --- what changes the arguments of a test -----------------------------------------------------------------------------


class ParameterModifier:
    """Says which arguments a test gets in the place of those of its combination."""

    DO_NOT_PASS_TO_THE_TEST = object()

    def __init__(self, parameter_name: str | None = None):
        self._parameter_name = parameter_name

    def modified_arguments(self, kwargs: dict[str, Any], requested_parameters: Sequence[str]) -> dict[str, Any]:
        """What to put over `kwargs`; DO_NOT_PASS_TO_THE_TEST takes one away."""
        return {}

    def __eq__(self, other: object) -> bool:
        return self is other or (type(self) is type(other) and self.__dict__ == other.__dict__)

    def __hash__(self) -> int:
        return hash(self._parameter_name)


class OptionalParameter(ParameterModifier):
    """A parameter that a test need not take."""

    def modified_arguments(self, kwargs: dict[str, Any], requested_parameters: Sequence[str]) -> dict[str, Any]:
        name = self._parameter_name
        return {} if name is None or name in requested_parameters else {name: self.DO_NOT_PASS_TO_THE_TEST}


class TestCombination:
    """What a kind of arguments means for a test: whether it runs, with which arguments, and inside of what."""

    __test__ = False

    def should_execute_combination(self, kwargs: dict[str, Any]) -> tuple[bool, str | None]:
        """Whether the test is to run with these arguments, and why not."""
        return True, None

    def parameter_modifiers(self) -> list[ParameterModifier]:
        return []

    def context_managers(self, kwargs: dict[str, Any]) -> list[Any]:
        return []


# --- combinations -----------------------------------------------------------------------------------------------------


def combine(**kwargs: Any) -> list[OrderedDict[str, Any]]:
    """All combinations of the values, in the order of the arguments' names; what is no list stands for itself."""
    names = sorted(kwargs)
    lists = [kwargs[name] if isinstance(kwargs[name], list) else [kwargs[name]] for name in names]
    return [OrderedDict(zip(names, values, strict=True)) for values in itertools.product(*lists)]


def times(*combined: list[OrderedDict[str, Any]]) -> list[OrderedDict[str, Any]]:
    """Each combination of one list with each of the others; ValueError for an argument that two have."""
    if not combined:
        raise AssertionError("there is nothing to combine")
    for one, other in itertools.combinations((found[0] for found in combined if found), 2):
        if set(one) & set(other):
            raise ValueError(f"Keys need to not overlap: {one.keys()} vs {other.keys()}")
    return [OrderedDict(itertools.chain.from_iterable(c.items() for c in chosen)) for chosen in itertools.product(*combined)]


def generate(
    combinations: Sequence[Mapping[str, Any]], test_combinations: Sequence[TestCombination] = ()
) -> Callable[[Any], Any]:
    """A decorator of a test, or of a class of them: one test for each combination, named after its values."""
    cases = [{**combination, "testcase_name": _case_name(combination)} for combination in combinations]

    def decorator(test_method_or_class: Any) -> Any:
        if not isinstance(test_method_or_class, type):
            test = _with_meanings(test_method_or_class, test_combinations)
            return parameterized.named_parameters(*cases)(test)
        prefix = unittest.TestLoader.testMethodPrefix
        for name, method in list(vars(test_method_or_class).items()):
            if name.startswith(prefix) and isinstance(method, types.FunctionType):
                delattr(test_method_or_class, name)
                test = _with_meanings(method, test_combinations)
                for case in cases:
                    arguments = {key: value for key, value in case.items() if key != "testcase_name"}
                    setattr(test_method_or_class, name + case["testcase_name"], functools.partialmethod(test, **arguments))
        return test_method_or_class

    return decorator


def _case_name(combination: Mapping[str, Any]) -> str:
    parts = ((_letters(key), _letters(str(value))) for key, value in combination.items())
    return "_test" + "".join(f"_{key}_{value}" for key, value in parts)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def _with_meanings(test: Callable[..., Any], meanings: Sequence[TestCombination]) -> Callable[..., Any]:
    requested = list(inspect.signature(test).parameters)

    @functools.wraps(test)
    def run(self: Any, **kwargs: Any) -> None:
        for meaning in meanings:
            runs, reason = meaning.should_execute_combination(dict(kwargs))
            if not runs:
                self.skipTest(f" - {reason}")
        passed = _passed(kwargs, requested, [one for meaning in meanings for one in meaning.parameter_modifiers()])
        with contextlib.ExitStack() as stack:
            for meaning in meanings:
                for around in meaning.context_managers(dict(kwargs)):
                    stack.enter_context(around)
            test(self, **passed)

    # What the test takes is not what it is called with: nobody is to look through this wrapper for it.
    del run.__wrapped__  # type: ignore[attr-defined]
    return run


def _passed(kwargs: dict[str, Any], requested: list[str], modifiers: Iterable[ParameterModifier]) -> dict[str, Any]:
    passed = dict(kwargs)
    for modifier in modifiers:
        passed.update(modifier.modified_arguments(dict(kwargs), requested))
    passed = {key: value for key, value in passed.items() if value is not ParameterModifier.DO_NOT_PASS_TO_THE_TEST}
    if unknown := set(passed) - set(requested):
        raise ValueError(f"The test does not take parameters that were passed : {unknown} .")
    if missing := set(requested) - set(passed) - {"self"}:
        raise ValueError(f"The test requires parameters whose arguments were not passed: {missing} .")
    return passed


# --- `combinations` ---------------------------------------------------------------------------------------------------


class EagerGraphCombination(TestCombination):
    """`mode`: "graph" or "eager"."""

    def context_managers(self, kwargs: dict[str, Any]) -> list[Any]:
        mode = kwargs.get("mode")
        if mode is None:
            return []
        if mode == "eager":
            return [eager_mode()]
        if mode == "graph":
            return [Graph().as_default()]
        raise ValueError(f"'mode' has to be either 'eager' or 'graph' and not {mode}")

    def parameter_modifiers(self) -> list[ParameterModifier]:
        return [OptionalParameter("mode")]


class TFVersionCombination(TestCombination):
    """`tf_api_version`: the version of TensorFlow's behaviour that a test is for, 1 or 2."""

    def should_execute_combination(self, kwargs: dict[str, Any]) -> tuple[bool, str | None]:
        version = kwargs.get("tf_api_version")
        if version == 1 and v2_behavior_enabled():
            return False, "Skipping a TF1 test when TF2 is enabled."
        if version == 2 and not v2_behavior_enabled():
            return False, "Skipping a TF2 test when TF2 is not enabled."
        return True, None

    def parameter_modifiers(self) -> list[ParameterModifier]:
        return [OptionalParameter("tf_api_version")]


MODES_AND_VERSIONS = (EagerGraphCombination(), TFVersionCombination())
generate_for_modes = functools.partial(generate, test_combinations=MODES_AND_VERSIONS)
