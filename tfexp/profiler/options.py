"""What a profile shows, and where it goes: `tf.profiler.ProfileOptionBuilder` and the dictionaries that it builds."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from tfexp.core.errors import InvalidArgumentError

TRAINABLE_VARIABLES = "_trainable_variables"
"""What trainable variables are accounted as, beside their op type."""

_MEASURED = (
    *("bytes", "peak_bytes", "residual_bytes", "output_bytes", "micros", "accelerator_micros", "cpu_micros"),
    *("params", "float_ops", "occurrence"),
)
SELECTED = (*_MEASURED, "device", "input_shapes", "op_types", "tensor_value")
ORDERS = ("name", "depth", *_MEASURED)
OUTPUTS = ("none", "stdout", "file", "timeline", "pprof")


@dataclass(frozen=True)
class Options:
    """The dictionary's entries, checked, in the order in which a report lists them.

    The regular expressions are to match the whole of a name, or of a type.
    """

    max_depth: int = 100
    min_bytes: int = 0
    min_peak_bytes: int = 0
    min_residual_bytes: int = 0
    min_output_bytes: int = 0
    min_micros: int = 0
    min_accelerator_micros: int = 0
    min_cpu_micros: int = 0
    min_params: int = 0
    min_float_ops: int = 0
    min_occurrence: int = 0
    step: int = -1
    order_by: str = "name"
    account_type_regexes: tuple[str, ...] = ()
    start_name_regexes: tuple[str, ...] = ()
    trim_name_regexes: tuple[str, ...] = ()
    show_name_regexes: tuple[str, ...] = ()
    hide_name_regexes: tuple[str, ...] = ()
    account_displayed_op_only: bool = False
    select: tuple[str, ...] = ()
    output: str = "stdout"

    @classmethod
    def of(cls, entries: Mapping[str, Any]) -> Options:
        """From a dictionary. InvalidArgumentError for a key, a column, an order, an output or an expression that is none."""
        names = [field.name for field in fields(cls)]
        _check("option", entries, names)
        given: dict[str, Any] = {
            key: tuple(value) if isinstance(value, (list, tuple, set)) else value for key, value in entries.items()
        }
        options = cls(**given)
        _check("order_by", [options.order_by], ORDERS)
        _check("select", options.select, SELECTED)
        _check("output", [options.output_kind], OUTPUTS)
        for key, value in given.items():
            if key.endswith("_regexes"):
                _check_expressions(key, value)
        return options

    @property
    def output_kind(self) -> str:
        return self.output.partition(":")[0]

    @property
    def output_file(self) -> str:
        """InvalidArgumentError where an output to a file names none."""
        path = self.output.partition(":outfile=")[2]
        if not path:
            message = f"output is {self.output!r}, but has to be '{self.output_kind}:outfile=PATH'."
            raise InvalidArgumentError(None, None, message)
        return path


def _check(what: str, given: Iterable[str], known: Iterable[str]) -> None:
    for name in given:
        if name not in known:
            raise InvalidArgumentError(None, None, f"{what} {name!r} of a profile is none of {', '.join(known)}.")


def _check_expressions(key: str, expressions: Iterable[str]) -> None:
    for expression in expressions:
        try:
            re.compile(expression)
        except re.error as error:
            message = f"{key} has {expression!r}, which is no regular expression: {error}."
            raise InvalidArgumentError(None, None, message) from error


def matches(expressions: tuple[str, ...], *texts: str) -> bool:
    """Whether an expression matches the whole of a text."""
    return any(re.fullmatch(expression, text) for expression in expressions for text in texts)


class ProfileOptionBuilder:
    """Builds a profile's options step by step, from others if given: `ProfileOptionBuilder(options).select([…]).build()`."""

    def __init__(self, options: Mapping[str, Any] | None = None):
        defaults = {
            "max_depth": 100,
            "min_bytes": 0,
            "min_micros": 0,
            "min_params": 0,
            "min_float_ops": 0,
            "min_occurrence": 0,
            "order_by": "name",
            "account_type_regexes": [".*"],
            "start_name_regexes": [".*"],
            "trim_name_regexes": [],
            "show_name_regexes": [".*"],
            "hide_name_regexes": [],
            "account_displayed_op_only": False,
            "select": ["micros"],
            "step": -1,
            "output": "stdout",
        }
        self._options: dict[str, Any] = copy.deepcopy(dict(defaults if options is None else options))

    # --- options for common questions ------------------------------------------------------------------------------------

    @staticmethod
    def trainable_variables_parameter() -> dict[str, Any]:
        """How many parameters the trainable variables have, by name scope."""
        return (
            ProfileOptionBuilder()
            .with_max_depth(10000)
            .with_accounted_types([TRAINABLE_VARIABLES])
            .account_displayed_op_only(True)
            .select(["params"])
            .build()
        )

    @staticmethod
    def float_operation() -> dict[str, Any]:
        """Which nodes do how many float operations."""
        return (
            ProfileOptionBuilder()
            .with_max_depth(10000)
            .with_min_float_operations(1)
            .order_by("float_ops")
            .account_displayed_op_only(True)
            .select(["float_ops"])
            .build()
        )

    @staticmethod
    def time_and_memory(
        min_micros: int = 1,
        min_bytes: int = 1,
        min_accelerator_micros: int = 0,
        min_cpu_micros: int = 0,
        min_peak_bytes: int = 0,
        min_residual_bytes: int = 0,
        min_output_bytes: int = 0,
    ) -> dict[str, Any]:
        """What took time and memory in the steps that were traced."""
        return (
            ProfileOptionBuilder()
            .with_max_depth(10000)
            .with_min_memory(min_bytes, min_peak_bytes, min_residual_bytes, min_output_bytes)
            .with_min_execution_time(min_micros, min_accelerator_micros, min_cpu_micros)
            .order_by("micros")
            .account_displayed_op_only(True)
            .select(["micros", "bytes"])
            .build()
        )

    # --- one setting each ------------------------------------------------------------------------------------------------

    def _with(self, **settings: Any) -> ProfileOptionBuilder:
        self._options.update(settings)
        return self

    def with_max_depth(self, max_depth: int) -> ProfileOptionBuilder:
        """Rows down to this depth; the root alone has one. A list by op type has this many rows, and one more."""
        return self._with(max_depth=max_depth)

    def with_min_memory(
        self, min_bytes: int = 0, min_peak_bytes: int = 0, min_residual_bytes: int = 0, min_output_bytes: int = 0
    ) -> ProfileOptionBuilder:
        """Rows that asked for, held, kept or made so many bytes, together with the rows below them."""
        return self._with(
            min_bytes=min_bytes,
            min_peak_bytes=min_peak_bytes,
            min_residual_bytes=min_residual_bytes,
            min_output_bytes=min_output_bytes,
        )

    def with_min_execution_time(
        self, min_micros: int = 0, min_accelerator_micros: int = 0, min_cpu_micros: int = 0
    ) -> ProfileOptionBuilder:
        """Rows that took so many microseconds, together with the rows below them."""
        return self._with(
            min_micros=min_micros, min_accelerator_micros=min_accelerator_micros, min_cpu_micros=min_cpu_micros
        )

    def with_min_parameters(self, min_params: int) -> ProfileOptionBuilder:
        return self._with(min_params=min_params)

    def with_min_occurrence(self, min_occurrence: int) -> ProfileOptionBuilder:
        """Nodes that ran so often; op types of so many nodes."""
        return self._with(min_occurrence=min_occurrence)

    def with_min_float_operations(self, min_float_ops: int) -> ProfileOptionBuilder:
        return self._with(min_float_ops=min_float_ops)

    def with_accounted_types(self, account_type_regexes: Iterable[str]) -> ProfileOptionBuilder:
        """Nodes that are accounted: by op type, by the device that ran them, by a type of an op log."""
        return self._with(account_type_regexes=list(account_type_regexes))

    def with_node_names(
        self,
        start_name_regexes: Iterable[str] | None = None,
        show_name_regexes: Iterable[str] | None = None,
        hide_name_regexes: Iterable[str] | None = None,
        trim_name_regexes: Iterable[str] | None = None,
    ) -> ProfileOptionBuilder:
        """Names from which the rows start, that are shown, that are hidden, and below which nothing is shown."""
        given = {
            "start_name_regexes": start_name_regexes,
            "show_name_regexes": show_name_regexes,
            "hide_name_regexes": hide_name_regexes,
            "trim_name_regexes": trim_name_regexes,
        }
        return self._with(**{key: list(value) for key, value in given.items() if value is not None})

    def account_displayed_op_only(self, is_true: bool) -> ProfileOptionBuilder:
        """Whether totals are of the rows that are shown, or of all."""
        return self._with(account_displayed_op_only=is_true)

    def order_by(self, attribute: str) -> ProfileOptionBuilder:
        return self._with(order_by=attribute)

    def select(self, attributes: Iterable[str]) -> ProfileOptionBuilder:
        """The columns."""
        return self._with(select=list(attributes))

    def with_step(self, step: int) -> ProfileOptionBuilder:
        """Which of the steps that a Profiler has; -1: their mean."""
        return self._with(step=step)

    # --- where it goes -----------------------------------------------------------------------------------------------------

    def with_empty_output(self) -> ProfileOptionBuilder:
        return self._with(output="none")

    def with_stdout_output(self) -> ProfileOptionBuilder:
        return self._with(output="stdout")

    def with_file_output(self, outfile: str) -> ProfileOptionBuilder:
        return self._with(output=f"file:outfile={outfile}")

    def with_timeline_output(self, timeline_file: str) -> ProfileOptionBuilder:
        """A Chrome trace in `<timeline_file>_<step>`: of the totals, or of the nodes' times in a profile of the graph."""
        return self._with(output=f"timeline:outfile={timeline_file}")

    def with_pprof_output(self, pprof_file: str) -> ProfileOptionBuilder:
        """A file for `pprof`, of a profile of the program's lines."""
        return self._with(output=f"pprof:outfile={pprof_file}")

    def build(self) -> dict[str, Any]:
        """The options, for `tf.profiler.profile` and Profiler."""
        return copy.deepcopy(self._options)
