"""Cells around cells.

Source: `tf.contrib.rnn.{EmbeddingWrapper,InputProjectionWrapper,OutputProjectionWrapper,HighwayWrapper,
AttentionCellWrapper,CompiledWrapper}`, TF 1.15.
"""

from __future__ import annotations

import math
from typing import Any

from tfexp.contributed.rnn.linear import depth_of, linear
from tfexp.core import nest
from tfexp.core.op import get_op
from tfexp.graph.scopes import device, name_scope
from tfexp.layers.rnn_cell import RNNCell
from tfexp.layers.rnn_wrappers import CellWrapper, check_cell
from tfexp.ops.array import expand_dims, reshape
from tfexp.ops.array_join import concat
from tfexp.ops.array_slice import slice as slice_
from tfexp.ops.elementwise_unary import sigmoid, tanh
from tfexp.ops.embedding import embedding_lookup
from tfexp.ops.initializers import constant_initializer, random_uniform_initializer
from tfexp.ops.nn_bias import xw_plus_b
from tfexp.ops.nn_conv import conv2d
from tfexp.ops.nn_softmax import softmax
from tfexp.ops.reduce import reduce_sum
from tfexp.ops.variable_scope import get_variable, get_variable_scope, variable_scope
from tfexp.ops.xla import jit_scope


class _Around(RNNCell):
    """A cell with variables of its own around a cell whose state it keeps."""

    def __init__(self, cell: Any, reuse: Any = None):
        super().__init__(_reuse=reuse)
        check_cell(cell)
        self._cell = cell

    @property
    def state_size(self) -> Any:
        return self._cell.state_size

    @property
    def output_size(self) -> Any:
        return self._cell.output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        with name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)


class EmbeddingWrapper(_Around):
    """Inputs are ids [batch] or [batch, 1], and the inner cell's inputs rows of the variable `embedding`.

    The table, on the CPU, starts by `initializer`, the scope's, or uniformly with variance 1. ValueError unless
    `embedding_classes` and `embedding_size` are positive.
    """

    def __init__(self, cell: Any, embedding_classes: int, embedding_size: int, initializer: Any = None, reuse: Any = None):
        super().__init__(cell, reuse)
        if embedding_classes <= 0 or embedding_size <= 0:
            raise ValueError(
                f"Both embedding_classes and embedding_size must be > 0: {embedding_classes}, {embedding_size}."
            )
        self._classes, self._size, self._initializer = embedding_classes, embedding_size, initializer

    def call(self, inputs: Any, state: Any) -> Any:
        with device("/cpu:0"):
            widest = math.sqrt(3)
            initializer = (
                self._initializer or get_variable_scope().initializer or random_uniform_initializer(-widest, widest)
            )
            kind = nest.flatten(state)[0].dtype
            table = get_variable("embedding", [self._classes, self._size], kind, initializer=initializer)
            embedded = embedding_lookup(table, reshape(inputs, [-1]))
        return self._cell(embedded, state)


class InputProjectionWrapper(_Around):
    """Brings inputs to the depth `num_proj` first."""

    def __init__(self, cell: Any, num_proj: int, activation: Any = None, input_size: Any = None, reuse: Any = None):
        super().__init__(cell, reuse)
        self._num_proj, self._activation = num_proj, activation

    def call(self, inputs: Any, state: Any) -> Any:
        projected = linear(inputs, self._num_proj)
        return self._cell(self._activation(projected) if self._activation else projected, state)


class OutputProjectionWrapper(_Around):
    """Brings outputs to the depth `output_size`. ValueError unless that is positive."""

    def __init__(self, cell: Any, output_size: int, activation: Any = None, reuse: Any = None):
        super().__init__(cell, reuse)
        if output_size < 1:
            raise ValueError(f"Parameter output_size must be > 0: {output_size}.")
        self._output_size, self._activation = output_size, activation

    @property
    def output_size(self) -> Any:
        return self._output_size

    def call(self, inputs: Any, state: Any) -> Any:
        output, following = self._cell(inputs, state)
        projected = linear(output, self._output_size)
        return (self._activation(projected) if self._activation else projected), following


class HighwayWrapper(_Around):
    """Inputs find their way to the outputs as far as a learned gate lets them (https://arxiv.org/abs/1505.00387).

    couple_carry_transform_gates: the inner cell's outputs pass as far as the inputs do not, else by a gate of their own.
    carry_bias_init: the bias that the gates start with.
    """

    def __init__(self, cell: Any, couple_carry_transform_gates: bool = True, carry_bias_init: float = 1.0):
        super().__init__(cell)
        self._couple, self._bias = couple_carry_transform_gates, carry_bias_init

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        with variable_scope(get_variable_scope(), custom_getter=self._remember, auxiliary_name_scope=False):
            outputs, following = self._cell(inputs, state, scope=scope)
            nest.assert_same_structure(inputs, outputs)
            for before, after in zip(nest.flatten(inputs), nest.flatten(outputs), strict=True):
                before.get_shape().assert_is_compatible_with(after.get_shape())
            return nest.map_structure(self._mixed, inputs, outputs), following

    def _mixed(self, before: Any, after: Any) -> Any:
        carry = self._gate("carry", before, self._bias)
        transform = 1 - carry if self._couple else self._gate("transform", before, -self._bias)
        return before * carry + after * transform

    @staticmethod
    def _gate(name: str, x: Any, bias: float) -> Any:
        size = depth_of(x)
        weights = get_variable(f"{name}_w", [size, size], x.dtype)
        biases = get_variable(f"{name}_b", [size], x.dtype, initializer=constant_initializer(bias))
        return sigmoid(xw_plus_b(x, weights, biases))


class AttentionCellWrapper(_Around):
    """Looks back at its last `attn_length` outputs, weighed by how they fit the state (https://arxiv.org/abs/1409.0473).

    The state is (the inner cell's, what was attended to [batch, attn_size], the last outputs [batch, attn_size *
    attn_length]) or, with `state_is_tuple=False`, all of these side by side. The output has the depth `attn_size`.
    """

    def __init__(
        self,
        cell: Any,
        attn_length: int,
        attn_size: int | None = None,
        attn_vec_size: int | None = None,
        input_size: int | None = None,
        state_is_tuple: bool = True,
        reuse: Any = None,
    ):
        super().__init__(cell, reuse)
        if nest.is_nested(cell.state_size) and not state_is_tuple:
            raise ValueError(
                f"Cell returns tuple of states, but the flag state_is_tuple is not set. State size is: {cell.state_size}"
            )
        if attn_length <= 0:
            raise ValueError(f"attn_length should be greater than zero, got {attn_length}")
        self._length, self._input_size, self._state_is_tuple = attn_length, input_size, state_is_tuple
        self._size = cell.output_size if attn_size is None else attn_size
        self._vec_size = self._size if attn_vec_size is None else attn_vec_size

    @property
    def state_size(self) -> Any:
        sizes = (self._cell.state_size, self._size, self._size * self._length)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> Any:
        return self._size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        return RNNCell.zero_state(self, batch_size, dtype)

    def call(self, inputs: Any, state: Any) -> Any:
        inner, attended, flat = state if self._state_is_tuple else self._parts(state)
        before = reshape(flat, [-1, self._length, self._size])
        projected = linear([inputs, attended], self._input_size or depth_of(inputs))
        output, following = self._cell(projected, inner)
        query = concat(nest.flatten(following), 1) if nest.is_nested(following) else following
        attended = self._attend(query, before)
        with variable_scope("attn_output_projection"):
            output = linear([output, attended], self._size)
        later = slice_(before, [0, 1, 0], [-1, -1, -1])
        kept = reshape(concat([later, expand_dims(output, 1)], 1), [-1, self._length * self._size])
        parts = (following, attended, kept)
        return output, parts if self._state_is_tuple else concat(list(parts), 1)

    def _parts(self, state: Any) -> list[Any]:
        begin, parts = 0, []
        for size in (self._cell.state_size, self._size, self._size * self._length):
            parts.append(slice_(state, [0, begin], [-1, size]))
            begin += size
        return parts

    def _attend(self, query: Any, before: Any) -> Any:
        """The mean of the outputs before [batch, attn_length, attn_size], weighed by how they fit the query."""
        with variable_scope("attention"):
            kernel = get_variable("attn_w", [1, 1, self._size, self._vec_size], query.dtype)
            weights = get_variable("attn_v", [self._vec_size], query.dtype)
            hidden = reshape(before, [-1, self._length, 1, self._size])
            features = conv2d(hidden, kernel, [1, 1, 1, 1], "SAME")
            wanted = reshape(linear(query, self._vec_size), [-1, 1, 1, self._vec_size])
            scores = reduce_sum(weights * tanh(features + wanted), [2, 3])  # type: ignore[operator]
            shares = reshape(softmax(scores), [-1, self._length, 1, 1])
            return reshape(reduce_sum(shares * hidden, [1, 2]), [-1, self._size])  # type: ignore[operator]


class CompiledWrapper(CellWrapper):
    """Marks the inner cell's nodes as to be compiled; those with a state (random numbers) only with `compile_stateful`."""

    def __init__(self, cell: Any, compile_stateful: bool = False):
        super().__init__(cell)
        self._compile_stateful = compile_stateful

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        with jit_scope(True if self._compile_stateful else _is_stateless):
            return self.cell(inputs, state, scope=scope)


def _is_stateless(node: Any) -> bool:
    return not get_op(node.op).is_stateful
