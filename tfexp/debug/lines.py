"""Commands about a step, read from standard input line by line.

    run [-n] [-t N] [-f FILTER] [-fenn REGEX]   go on: watching; -n, without; -t, watching the N-th run only; -f, watching
                                                all runs up to the first with a value that the filter lets through, but
                                                for nodes that match -fenn
    lt [-f FILTER] [-n REGEX] [-t REGEX]        list tensors: those that a filter lets through, by node, by node type
    pt TENSOR [-s]                              print the values of a tensor (`node:slot`; slot 0 by default) or, of
                                                `node:slot[1:, 0]`, of a part of it; -s, and some figures about them
    eval EXPRESSION                             print what Python makes of it; `node:slot` between backticks is a tensor
    ni NODE [-a] [-d] [-t]                      node's info, and its attributes, dumped values, and where it was made
    li NODE, lo NODE                            list the inputs of a node, or the nodes that read it
    exit                                        end the program

The first one alone can be given before a step has run. The end of the input is an `exit`.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from tfexp.debug.dump_dir import DebugDumpDir, Predicate
from tfexp.debug.expressions import ExpressionEvaluator
from tfexp.debug.figures import figures

PROMPT = "tfdbg> "
_SLICE = r"\s*(-?\d+|(-?\d+)?\s*:\s*(-?\d+)?(\s*:\s*(-?\d+)?)?)\s*"
_SLICING = re.compile(rf"\[{_SLICE}(,{_SLICE})*\]")


@dataclass(frozen=True)
class Go:
    """How to go on: with `debug`, watching the `times`-th run from now, or all up to one that passes `until`."""

    debug: bool = True
    times: int = 1
    until: str | None = None
    excluded_nodes: str | None = None


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints are ValueErrors."""

    def error(self, message: str) -> NoReturn:
        raise ValueError(f"{message}\n{self.format_usage().strip()}")


def _parser(name: str, *arguments: tuple[str, dict[str, Any]]) -> _Parser:
    parser = _Parser(prog=name, add_help=False)
    for argument, how in arguments:
        parser.add_argument(argument, **how)
    return parser


_FLAG: dict[str, Any] = {"action": "store_true"}
_NODE: tuple[str, dict[str, Any]] = ("node", {})
_PARSERS = {
    "run": _parser("run", ("-n", _FLAG), ("-t", {"type": int, "default": 1}), ("-f", {}), ("-fenn", {})),
    "exit": _parser("exit"),
    "lt": _parser("lt", ("-f", {}), ("-n", {}), ("-t", {})),
    "pt": _parser("pt", ("tensor", {"nargs": "+"}), ("-s", _FLAG)),
    "eval": _parser("eval", ("expression", {"nargs": argparse.REMAINDER})),
    "ni": _parser("ni", _NODE, ("-a", _FLAG), ("-d", _FLAG), ("-t", _FLAG)),
    "li": _parser("li", _NODE),
    "lo": _parser("lo", _NODE),
}
_BEFORE_A_RUN = ("run", "exit")


def ask(filters: Mapping[str, Predicate], dump: DebugDumpDir | None = None) -> Go:
    """Answer commands about `dump` until one says how to go on. SystemExit for `exit`."""
    answers: dict[str, Callable[[Any], Iterable[str]]] = {}
    if dump is not None:
        about = _About(dump, filters)
        answers = {
            "lt": about.list_tensors,
            "pt": about.print_tensor,
            "eval": about.evaluate,
            "ni": about.node,
            "li": about.inputs,
            "lo": about.readers,
        }
    while True:
        try:
            words = input(PROMPT).split()
        except EOFError:
            words = ["exit"]
        if not words:
            continue
        command, *rest = words
        try:
            if command not in _BEFORE_A_RUN and command not in answers:
                raise ValueError(f"{command}: no such command here; there are: {', '.join((*_BEFORE_A_RUN, *answers))}")
            arguments = _PARSERS[command].parse_args(rest)
            if command == "exit":
                sys.exit(1)
            if command == "run":
                return _how_to_go_on(arguments, filters)
            show(answers[command](arguments))
        except (ValueError, LookupError, re.error) as error:
            show([f"ERROR: {error}"])


def show(lines: Iterable[str]) -> None:
    """Write lines to standard output."""
    sys.stdout.writelines(f"{line}\n" for line in lines)
    sys.stdout.flush()


def _how_to_go_on(arguments: Any, filters: Mapping[str, Predicate]) -> Go:
    if arguments.f is not None:
        _filter(filters, arguments.f)
    if arguments.t < 1:
        raise ValueError(f"run -t takes a number of runs from 1 on, but got {arguments.t}")
    return Go(not arguments.n, arguments.t, arguments.f, arguments.fenn)


def _filter(filters: Mapping[str, Predicate], name: str) -> Predicate:
    if name not in filters:
        raise ValueError(f"there is no tensor filter named {name!r}; there are: {', '.join(filters)}")
    return filters[name]


def _part(value: Any, slicing: str) -> Any:
    """What is there of a value: `[1:, 0]`. ValueError for other things than whole numbers and slices of them."""
    if not (isinstance(value, np.ndarray) and _SLICING.fullmatch(slicing)):
        raise ValueError(f"{slicing} is no part of a tensor")
    parts = [[int(number) if number.strip() else None for number in part.split(":")] for part in slicing[1:-1].split(",")]
    try:
        return np.asarray(value[tuple(slice(*numbers) if len(numbers) > 1 else numbers[0] for numbers in parts)])
    except IndexError as error:
        raise ValueError(str(error)) from error


def _value(value: Any, summary: bool) -> Iterable[str]:
    if isinstance(value, np.ndarray):
        yield f"  dtype: {value.dtype}"
        yield f"  shape: {value.shape}"
        if summary:
            yield from figures(value)
    yield str(value)


class _About:
    """Answers about a dump, in lines."""

    def __init__(self, dump: DebugDumpDir, filters: Mapping[str, Predicate]):
        self._dump, self._filters, self._expressions = dump, filters, ExpressionEvaluator(dump)

    def list_tensors(self, arguments: Any) -> Iterable[str]:
        dump = self._dump
        passing = None if arguments.f is None else _filter(self._filters, arguments.f)
        data = dump.dumped_tensor_data if passing is None else dump.find(passing)
        rows = [(datum, dump.node_op_type(datum.node_name, datum.device_name)) for datum in data]
        if arguments.n:
            rows = [row for row in rows if re.match(arguments.n, row[0].node_name)]
        if arguments.t:
            rows = [row for row in rows if re.match(arguments.t, row[1])]
        yield f"{len(rows)} dumped tensor(s)" + (f' passing filter "{arguments.f}"' if arguments.f else "") + ":"
        start = dump.t0 or 0
        for datum, op_type in rows:
            time = f"[{(datum.timestamp - start) / 1e3:.3f}]"
            yield f"{time:>12} {datum.dump_size_bytes:>10} {op_type:<20} {datum.tensor_name}"

    def print_tensor(self, arguments: Any) -> Iterable[str]:
        name, bracket, part = " ".join(arguments.tensor).partition("[")
        node, _, slot = name.partition(":")
        for value in self._dump.get_tensors(node, int(slot or 0), "DebugIdentity"):
            yield f'Tensor "{node}:{slot or 0}:DebugIdentity{bracket}{part}":'
            yield from _value(_part(value, bracket + part) if bracket else value, arguments.s)

    def evaluate(self, arguments: Any) -> Iterable[str]:
        expression = " ".join(arguments.expression)
        try:
            value = self._expressions.evaluate(expression)
        except Exception as error:  # it is the user's own code
            raise ValueError(f"{type(error).__name__}: {error}") from error
        yield f"{expression}:"
        yield from _value(np.asarray(value), summary=False)

    def node(self, arguments: Any) -> Iterable[str]:
        dump, name = self._dump, arguments.node.partition(":")[0]
        yield f"Node {name}"
        yield f"  Op: {dump.node_op_type(name)}"
        yield f"  Device: {dump.node_device(name)}"
        yield from self.inputs(arguments)
        yield from self.readers(arguments)
        if arguments.a:
            yield "Node attributes:"
            for key, value in sorted(dump.node_attributes(name).items()):
                yield f"  {key}: {str(value).strip()}"
        if arguments.d:
            keys = dump.debug_watch_keys(name)
            yield f"{len(keys)} dumped watch key(s):"
            yield from (f"  {key} ({len(dump.watch_key_to_data(key))} value(s))" for key in keys)
        if arguments.t:
            yield "Traceback of node construction:"
            for file, line, function, source in dump.node_traceback(name):
                yield f"  {file}:{line} in {function}: {source}"

    def inputs(self, arguments: Any) -> Iterable[str]:
        return self._both(arguments, self._dump.node_inputs, "input(s)")

    def readers(self, arguments: Any) -> Iterable[str]:
        return self._both(arguments, self._dump.node_recipients, "recipient(s)")

    def _both(self, arguments: Any, of_node: Callable[..., list[str]], what: str) -> Iterable[str]:
        """What a node has to do with others: by values, and by control edges."""
        name = arguments.node.partition(":")[0]
        for kind, is_control in (("", False), ("control ", True)):
            names = of_node(name, is_control=is_control)
            yield f"{len(names)} {kind}{what}{': ' if names else ''}{', '.join(names)}"
