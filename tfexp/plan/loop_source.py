"""The Python of a recorded loop, for a compiler: straight code over flat arrays, with no names of the graph in it.

`loop(a0, …[, out], n1, …)` takes the arguments in order, the array for its result if it has one, and the extents of the
loops but the outermost one; it returns whether all arrays have the sizes that follow from those. Dimensions along which all
arguments advance alike are one loop, so that the text does not depend on shapes, and one text serves all that are broadcast
alike. With indices, the outermost loop goes through them in turn, so that a row that comes again is updated again; that they
are all within the arrays is asked first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tfexp.plan.recording import CAST, OPERATIONS, WHERE, Argument, Dims, Expression, Load, Number, Recording


@dataclass(frozen=True)
class LoopSource:
    """The text of `loop`; the dtype, rank and whether it is written to of each array and number that it takes; `extents`."""

    text: str
    parameters: tuple[tuple[str, int, bool], ...]
    extents: tuple[int, ...]


def write_loop(recording: Recording) -> LoopSource:
    return _Writer(recording).write()


class _Writer:
    def __init__(self, recording: Recording):
        self._recording = recording
        self._result = next((number for argument, number in recording.stores if argument < 0), None)
        arrays = [argument for argument in recording.arguments if _size(argument.dims) > 1]
        self._by_row = [n for n, argument in enumerate(recording.arguments) if argument.by_row]
        if self._by_row:
            self._levels = [(extent, axis) for axis, extent in enumerate(recording.dims)]
        else:
            self._levels = _levels([a.dims for a in arrays], recording.dims)
        self._lines: list[str] = []

    def write(self) -> LoopSource:
        recording, lines = self._recording, self._lines
        names = [f"a{n}" for n in range(len(recording.arguments))] + (["out"] if self._result is not None else [])
        extents = [f"n{level}" for level in range(1, len(self._levels))]
        lines.append(f"def loop({', '.join([*names, *extents])}):")
        # The outermost extent is that of what is written to, as a piece of the arrays may be all there is.
        whole = recording.indices if recording.indices is not None else recording.stores[0][0]
        inner = " * ".join(["1", *extents])
        lines.append(f"    n0 = {self._name(whole)}.size // ({inner if recording.indices is None else 1})")
        for n, argument in enumerate(recording.arguments):
            if argument.dims:
                lines.append(f"    if a{n}.size != {self._size_of(argument)}: return False")
                lines.append(f"    a{n} = a{n}.reshape(a{n}.size)")
        if self._result is not None:
            lines.append("    out = out.reshape(out.size)")
        if self._by_row:
            lines.append("    for i0 in range(n0):")
            index = f"a{recording.indices}[i0]"
            lines.append(f"        if {index} < 0 or {index} >= a{self._by_row[0]}.size // n1: return False")
        inside = [n for n, expression in enumerate(recording.expressions) if _size(expression.dims) > 1]
        for n, expression in enumerate(recording.expressions):
            if _size(expression.dims) <= 1:
                lines.append(f"    v{n} = {self._text(expression)}")
        indent = "    "
        for level in range(len(self._levels)):
            lines.append(f"{indent}for i{level} in range(n{level}):")
            indent += "    "
            if level == 0:
                lines.extend(f"{indent}r{n} = a{n}[a{recording.indices}[i0] * n1 :][:n1]" for n in self._by_row)
        lines.extend(f"{indent}v{n} = {self._text(recording.expressions[n])}" for n in inside)
        everywhere = _index([True] * len(self._levels))
        for argument_number, number in recording.stores:
            place = (
                f"r{argument_number}[i1]"
                if argument_number in self._by_row
                else f"{self._name(argument_number)}[{everywhere}]"
            )
            lines.append(f"{indent}{place} = v{number}")
        lines.append("    return True")
        parameters = [(a.dtype.name, len(a.dims), a.written) for a in recording.arguments]
        if self._result is not None:
            parameters.append((recording.expressions[self._result].dtype.name, len(recording.dims), True))
        return LoopSource("\n".join(lines) + "\n", tuple(parameters), tuple(extent for extent, _ in self._levels[1:]))

    def _name(self, argument: int) -> str:
        return "out" if argument < 0 else f"a{argument}"

    def _advances(self, dims: Dims) -> list[bool]:
        """For each level, whether an array of these dimensions goes on with it."""
        padded = _padded(dims, len(self._recording.dims))
        return [padded[axis] > 1 for _, axis in self._levels]

    def _size_of(self, argument: Argument) -> str:
        if _size(argument.dims) == 1:
            return "1"
        if argument.by_row:
            return f"a{self._by_row[0]}.size // n1 * n1"
        return " * ".join(f"n{level}" for level, on in enumerate(self._advances(argument.dims)) if on)

    def _text(self, expression: Expression) -> str:
        kind = f"np.{expression.dtype.name}" if expression.dtype.kind != "b" else "np.bool_"
        if isinstance(expression, Load):
            return self._load(expression)
        if isinstance(expression, Number):
            return f"{kind}({_literal(expression.value)})"
        operands = [f"v{n}" for n in expression.operands]
        if expression.operation == WHERE:
            return "{1} if {0} else {2}".format(*operands)
        if expression.operation == CAST:
            return f"{operands[0]} != 0" if expression.dtype.kind == "b" else f"{kind}({operands[0]})"
        text = OPERATIONS[expression.operation][0].format(*operands, t=kind)
        # Compilers compute with wider integers than NumPy.
        return f"{kind}({text})" if expression.dtype.kind in "iu" else text

    def _load(self, load: Load) -> str:
        if not load.dims:
            return f"a{load.argument}"
        if load.argument in self._by_row:
            return f"r{load.argument}[i1]"
        return f"a{load.argument}[{_index(self._advances(load.dims)) if _size(load.dims) > 1 else '0'}]"


def _levels(arrays: list[Dims], dims: Dims) -> list[tuple[int, int]]:
    """The extents of the loops, with an axis that each covers."""
    padded = [_padded(one, len(dims)) for one in arrays]
    levels: list[tuple[int, int]] = []
    before: list[bool] | None = None
    for axis, extent in enumerate(dims):
        if extent == 1:
            continue
        advancing = [one[axis] > 1 for one in padded]
        if advancing == before:
            levels[-1] = (levels[-1][0] * extent, axis)
        else:
            levels.append((extent, axis))
        before = advancing
    return levels or [(1, 0)]


def _padded(dims: Dims, rank: int) -> Dims:
    return (1,) * (rank - len(dims)) + dims


def _index(advancing: list[bool]) -> str:
    """The position in a flat array that goes on with these levels."""
    text = ""
    for level, on in enumerate(advancing):
        if on:
            text = f"({text}) * n{level} + i{level}" if text else f"i{level}"
    return text


def _size(dims: Dims) -> int:
    return math.prod(dims)


def _literal(value: bool | int | float) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return "np.nan" if math.isnan(value) else ("np.inf" if value > 0 else "-np.inf")
    return repr(value)
