"""Cells of several dimensions. Source: `tf.contrib.grid_rnn`, TF 1.15; Kalchbrenner et al., "Grid LSTM" (2015).

Each dimension has a cell of its own with a state of its own, all of `num_units`, and each sees what all the others put out.
Those of priority go last: they see what the others put out in this step already.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfexp.contributed.layers import fully_connected
from tfexp.graph.tensor import Tensor
from tfexp.layers.rnn_cell import BasicRNNCell, GRUCell, RNNCell
from tfexp.layers.rnn_lstm import BasicLSTMCell, LSTMCell
from tfexp.ops.array_fill import zeros
from tfexp.ops.array_join import concat
from tfexp.ops.array_split import split
from tfexp.ops.initializers import glorot_uniform_initializer
from tfexp.ops.matmul import matmul
from tfexp.ops.nn_activation import relu
from tfexp.ops.variable_scope import get_variable, variable_scope

Dims = int | Sequence[int] | None


class GridRNNCell(RNNCell):
    """A cell of `num_dims` dimensions, numbered from 0; the arguments that end in `_dims` name some of them.

    input_dims: what their memories and outputs were is replaced by projections of the input [batch, size], which is split
    among them, or of a tuple with an input for each. output_dims: whose outputs the cell's are. priority_dims: they go last.
    non_recurrent_dims: no states, but a layer with `non_recurrent_fn`, relu unless given. tied: dimensions share weights.
    cell_fn: num_units -> a dimension's RNNCell; an LSTMCell unless given. state_is_tuple, output_is_tuple: a tuple with a
    part of each dimension that has one, or else their concatenation. ValueError for dimensions that are not there, TypeError
    for what is no RNNCell.
    """

    def __init__(
        self,
        num_units: int,
        num_dims: int = 1,
        input_dims: Dims = None,
        output_dims: Dims = None,
        priority_dims: Dims = None,
        non_recurrent_dims: Dims = None,
        tied: bool = False,
        cell_fn: Callable[[int], Any] | None = None,
        non_recurrent_fn: Callable[..., Any] | None = None,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ):
        super().__init__()
        if num_dims < 1:
            raise ValueError(f"dims must be >= 1: {num_dims}")
        self._num_units, self._num_dims, self._tied = num_units, num_dims, tied
        self._inputs, self._outputs = _listed(input_dims, num_dims), _listed(output_dims, num_dims)
        self._last = _listed(priority_dims, num_dims)
        plain = _listed(non_recurrent_dims, num_dims)
        self._recurrent = [i for i in range(num_dims) if i not in plain]
        self._activation = non_recurrent_fn or relu
        self._state_is_tuple, self._output_is_tuple = state_is_tuple, output_is_tuple

        def new() -> Any:
            return LSTMCell(num_units, state_is_tuple=state_is_tuple) if cell_fn is None else cell_fn(num_units)

        self._cells = [new()] * num_dims if tied else [new() for _ in range(num_dims)]
        if not isinstance(self._cells[0], RNNCell):
            raise TypeError(f"cell_fn must return an RNNCell instance, saw: {type(self._cells[0])}")
        of_one = self._cells[0].state_size
        self._width = sum(of_one) if isinstance(of_one, tuple) else of_one

    @property
    def output_size(self) -> Any:
        sizes = (self._cells[0].output_size,) * len(self._outputs)
        return sizes if self._output_is_tuple else sum(sizes)

    @property
    def state_size(self) -> Any:
        count = len(self._recurrent)
        return (self._cells[0].state_size,) * count if self._state_is_tuple else self._width * count

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        """(output, state) of a step. The scope of the variables is named after the class."""
        dtype = (inputs[0] if isinstance(inputs, tuple) else inputs).dtype
        memories, before = self._apart(state)
        outputs: list[Any] = [None] * self._num_dims
        states: list[Any] = [None] * self._num_dims
        with variable_scope(scope or type(self).__name__):
            self._project(inputs, memories, before)
            first = [i for i in range(self._num_dims) if i not in self._last]
            shared_scopes: set[str] = set()
            for dims in (first, self._last):
                seen = [b if o is None else o for o, b in zip(outputs, before, strict=True)]
                for i in dims:
                    outputs[i], states[i] = self._step(i, seen, memories[i], shared_scopes)
            put_out = tuple(outputs[i] for i in self._outputs)
            kept: Any = tuple(states[i] for i in self._recurrent)
            if not self._state_is_tuple:
                kept = _joined([part for one in kept for part in (one if isinstance(one, tuple) else (one,))], dtype)
            return put_out if self._output_is_tuple else _joined(list(put_out), dtype), kept

    def _apart(self, state: Any) -> tuple[list[Any], list[Any]]:
        """(memories, outputs) of each dimension before the step; None where it has none."""
        has_memory = self._width > self._num_units
        if self._state_is_tuple:
            if len(state) != len(self._recurrent):
                raise ValueError(f"Expected state as a tuple of {len(self._recurrent)} element")
            parts = [one if has_memory else (None, one) for one in state]
        else:
            sizes = [self._num_units, self._width - self._num_units] if has_memory else [self._num_units]
            cut = split(state, sizes * len(self._recurrent), 1) if self._recurrent else []
            parts = list(zip(cut[::2], cut[1::2], strict=True)) if has_memory else [(None, one) for one in cut]
        memories: list[Any] = [None] * self._num_dims
        outputs: list[Any] = [None] * self._num_dims
        for i, (memory, output) in zip(self._recurrent, parts, strict=True):
            memories[i], outputs[i] = memory, output
        return memories, outputs

    def _project(self, inputs: Any, memories: list[Any], outputs: list[Any]) -> None:
        """Puts the input's projections in the places of those of the input's dimensions."""
        if not self._inputs or inputs is None:
            return
        if isinstance(inputs, tuple):
            if len(inputs) != len(self._inputs):
                raise ValueError(f"Expect inputs as a tuple of {len(self._inputs)} tensors")
            parts = list(inputs)
        elif inputs.shape.with_rank(2)[1].value:
            parts = split(inputs, len(self._inputs), 1)
        else:
            return
        size = [parts[0].shape.with_rank(2)[1].value, self._num_units]
        for i, part in zip(self._inputs, parts, strict=True):
            outputs[i] = matmul(part, get_variable(f"project_m_{i}", size, part.dtype))
            if self._width > self._num_units:
                memories[i] = matmul(part, get_variable(f"project_c_{i}", size, part.dtype))

    def _step(self, i: int, seen: list[Any], memory: Any, shared_scopes: set[str]) -> tuple[Any, Any]:
        """(output, state) of a dimension. A cell's state is the last dimension's output, its input the others'."""
        *others, last = seen
        kind = "recurrent" if i in self._recurrent else "non_recurrent"
        with variable_scope(kind if self._tied else f"{kind}/cell_{i}") as scope:
            if self._tied and kind in shared_scopes:
                scope.reuse_variables()
            shared_scopes.add(kind)
            if kind == "recurrent":
                inputs = concat(others, 1) if others else zeros([last.shape.as_list()[0], 0], last.dtype)
                output, state = self._cells[i](inputs, last if memory is None else (memory, last))
                return output, state
            output = fully_connected(
                concat(seen, 1) if others else last,
                self._num_units,
                activation_fn=self._activation,
                weights_initializer=scope.initializer or glorot_uniform_initializer(),
                weights_regularizer=scope.regularizer,
            )
            return output, None


def _listed(dims: Dims, count: int) -> list[int]:
    listed = sorted(set(() if dims is None else [dims] if isinstance(dims, int) else dims))
    if any(not 0 <= i < count for i in listed):
        raise ValueError(f"Invalid dims: {listed}. Must be in [0, {count})")
    return listed


def _joined(parts: list[Any], dtype: Any) -> Tensor:
    return concat(parts, 1) if parts else zeros([0, 0], dtype)


class _Grid(GridRNNCell):
    """Input, output and priority are those of dimension 0, which has no state where there is a `non_recurrent_fn`."""

    def __init__(
        self,
        num_units: int,
        num_dims: int,
        tied: bool,
        non_recurrent_fn: Callable[..., Any] | None,
        cell_fn: Callable[[int], Any],
        state_is_tuple: bool,
        output_is_tuple: bool,
    ):
        plain = None if non_recurrent_fn is None else 0
        super().__init__(
            num_units, num_dims, 0, 0, 0, plain, tied, cell_fn, non_recurrent_fn, state_is_tuple, output_is_tuple
        )


class Grid1BasicRNNCell(_Grid):
    """A BasicRNNCell as a grid of one dimension."""

    def __init__(self, num_units: int, state_is_tuple: bool = True, output_is_tuple: bool = True):
        super().__init__(num_units, 1, False, None, BasicRNNCell, state_is_tuple, output_is_tuple)


class Grid2BasicRNNCell(_Grid):
    """BasicRNNCells in two dimensions. Dimension 0 is for input and output; `non_recurrent_fn` makes it a layer."""

    def __init__(
        self,
        num_units: int,
        tied: bool = False,
        non_recurrent_fn: Callable[..., Any] | None = None,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ):
        super().__init__(num_units, 2, tied, non_recurrent_fn, BasicRNNCell, state_is_tuple, output_is_tuple)


class Grid1BasicLSTMCell(_Grid):
    """A BasicLSTMCell as a grid of one dimension."""

    def __init__(self, num_units: int, forget_bias: float = 1, state_is_tuple: bool = True, output_is_tuple: bool = True):
        super().__init__(num_units, 1, False, None, _basic_lstm(forget_bias), state_is_tuple, output_is_tuple)


class Grid2BasicLSTMCell(_Grid):
    """BasicLSTMCells in two dimensions. Dimension 0 is for input and output; `non_recurrent_fn` makes it a layer."""

    def __init__(
        self,
        num_units: int,
        tied: bool = False,
        non_recurrent_fn: Callable[..., Any] | None = None,
        forget_bias: float = 1,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ):
        super().__init__(num_units, 2, tied, non_recurrent_fn, _basic_lstm(forget_bias), state_is_tuple, output_is_tuple)


class Grid1LSTMCell(_Grid):
    """An LSTMCell as a grid of one dimension."""

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ):
        super().__init__(num_units, 1, False, None, _lstm(use_peepholes, forget_bias), state_is_tuple, output_is_tuple)


class _GridLSTMCell(_Grid):
    dims: int

    def __init__(
        self,
        num_units: int,
        tied: bool = False,
        non_recurrent_fn: Callable[..., Any] | None = None,
        use_peepholes: bool = False,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ):
        cell_fn = _lstm(use_peepholes, forget_bias)
        super().__init__(num_units, self.dims, tied, non_recurrent_fn, cell_fn, state_is_tuple, output_is_tuple)


class Grid2LSTMCell(_GridLSTMCell):
    """LSTMCells in two dimensions. Dimension 0 is for input and output; `non_recurrent_fn` makes it a layer."""

    dims = 2


class Grid3LSTMCell(_GridLSTMCell):
    """LSTMCells in three dimensions. Dimension 0 is for input and output; `non_recurrent_fn` makes it a layer."""

    dims = 3


class Grid2GRUCell(_Grid):
    """GRUCells in two dimensions. Dimension 0 is for input and output; `non_recurrent_fn` makes it a layer."""

    def __init__(
        self,
        num_units: int,
        tied: bool = False,
        non_recurrent_fn: Callable[..., Any] | None = None,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ):
        super().__init__(num_units, 2, tied, non_recurrent_fn, GRUCell, state_is_tuple, output_is_tuple)


def _basic_lstm(forget_bias: float) -> Callable[[int], Any]:
    return lambda num_units: BasicLSTMCell(num_units, forget_bias=forget_bias)


def _lstm(use_peepholes: bool, forget_bias: float) -> Callable[[int], Any]:
    return lambda num_units: LSTMCell(num_units, use_peepholes=use_peepholes, forget_bias=forget_bias)
