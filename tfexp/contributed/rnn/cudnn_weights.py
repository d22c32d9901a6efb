"""How cuDNN's networks keep their weights, and as whose they are saved.

Canonical are matrices [units, inputs] of each gate, first for the inputs and then for the state, and as many biases [units].
The one variable has all matrices, then all biases, of a layer after the other, and of a direction after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tfexp.ops.array import reshape
from tfexp.ops.array_join import concat
from tfexp.ops.array_order import transpose
from tfexp.ops.array_split import split
from tfexp.ops.elementwise_binary import add_n
from tfexp.ops.elementwise_unary import sigmoid, tanh
from tfexp.ops.matmul import matmul
from tfexp.ops.nn_activation import relu

Tensors = list[Any]


@dataclass(frozen=True)
class Mode:
    """A kind of network: its gates, its states, the cell it is saved as, and how it takes a step.

    step(x, states, (kernels [inputs, gates], biases [gates]) of the inputs, and of the state) gives the next states.
    parts: of a cell's weights, the name, the gates of it in its order, and whose of "both", the "inputs" and the "state".
    """

    name: str
    gates: int
    states: int
    cell: str
    parts: Sequence[tuple[str, Sequence[int], str]]
    step: Callable[[Any, Tensors, tuple[Any, Any], tuple[Any, Any]], Tensors]


def _lstm(x: Any, states: Tensors, of_inputs: tuple[Any, Any], of_state: tuple[Any, Any]) -> Tensors:
    h, c = states
    total = matmul(x, of_inputs[0]) + of_inputs[1] + matmul(h, of_state[0]) + of_state[1]  # type: ignore[operator]
    i, f, new, o = split(total, 4, 1)
    c = sigmoid(f) * c + sigmoid(i) * tanh(new)  # type: ignore[operator]
    return [sigmoid(o) * tanh(c), c]  # type: ignore[operator]


def _gru(x: Any, states: Tensors, of_inputs: tuple[Any, Any], of_state: tuple[Any, Any]) -> Tensors:
    (h,) = states
    from_inputs = split(matmul(x, of_inputs[0]) + of_inputs[1], 3, 1)  # type: ignore[operator]
    from_state = split(matmul(h, of_state[0]) + of_state[1], 3, 1)  # type: ignore[operator]
    reset, update = (sigmoid(a + b) for a, b in zip(from_inputs[:2], from_state[:2], strict=True))
    candidate = tanh(from_inputs[2] + reset * from_state[2])
    return [(1.0 - update) * candidate + update * h]  # type: ignore[operator]


def _plain(activation: Callable[[Any], Any]) -> Callable[..., Tensors]:
    def step(x: Any, states: Tensors, of_inputs: tuple[Any, Any], of_state: tuple[Any, Any]) -> Tensors:
        (h,) = states
        return [activation(matmul(x, of_inputs[0]) + of_inputs[1] + matmul(h, of_state[0]) + of_state[1])]  # type: ignore[operator]

    return step


_GRU_PARTS = (
    ("gates/", (0, 1), "both"),
    ("candidate/input_projection/", (2,), "inputs"),
    ("candidate/hidden_projection/", (2,), "state"),
)
# cuDNN's order of an LSTM's gates is input, forget, new, output; the cells' has the new values second.
LSTM = Mode("lstm", 4, 2, "cudnn_compatible_lstm_cell", (("", (0, 2, 1, 3), "both"),), _lstm)
GRU = Mode("gru", 3, 1, "cudnn_compatible_gru_cell", _GRU_PARTS, _gru)
TANH = Mode("rnn_tanh", 1, 1, "basic_rnn_cell", (("", (0,), "both"),), _plain(tanh))
RELU = Mode("rnn_relu", 1, 1, "basic_rnn_cell", (("", (0,), "both"),), _plain(relu))


# Which halves of a network a part is of.
_OF = {"both": slice(2), "inputs": slice(1), "state": slice(1, 2)}


@dataclass(frozen=True)
class Layout:
    """Where the numbers of a network are in its variable."""

    mode: Mode
    layers: int
    directions: int
    units: int
    inputs: int

    @property
    def weight_shapes(self) -> list[tuple[int, int]]:
        """Of the canonical matrices."""
        found = []
        for layer in range(self.layers):
            depth = self.units * self.directions if layer else self.inputs
            one = [(self.units, depth)] * self.mode.gates + [(self.units, self.units)] * self.mode.gates
            found += one * self.directions
        return found

    @property
    def bias_shapes(self) -> list[list[int]]:
        return [[self.units]] * len(self.weight_shapes)

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return sum(rows * columns + self.units for rows, columns in self.weight_shapes)

    def canonical(self, flat: Any) -> tuple[Tensors, Tensors]:
        """(the matrices, the biases) of the variable's value."""
        shapes = self.weight_shapes
        sizes = [rows * columns for rows, columns in shapes] + [self.units] * len(shapes)
        parts = split(flat, sizes)
        return [reshape(part, dims) for part, dims in zip(parts, shapes, strict=False)], parts[len(shapes) :]

    def flat(self, weights: Sequence[Any], biases: Sequence[Any]) -> Any:
        """The variable's value of these."""
        return concat([*(reshape(weight, [-1]) for weight in weights), *biases], 0)

    def networks(self, flat: Any) -> list[tuple[tuple[Any, Any], tuple[Any, Any]]]:
        """Of each direction of each layer what `Mode.step` takes: (kernel, bias) of the inputs, and of the state."""
        weights, biases = self.canonical(flat)
        gates = self.mode.gates
        halves = [
            (transpose(concat(weights[i : i + gates], 0)), concat(biases[i : i + gates], 0))
            for i in range(0, len(weights), gates)
        ]
        return list(zip(halves[::2], halves[1::2], strict=True))

    def names(self) -> list[str]:
        """What the weights are saved as, below the layer: first all kernels, then all biases."""
        if self.directions == 1:
            cells = [f"rnn/multi_rnn_cell/cell_{i}" for i in range(self.layers)]
        else:
            below = "stack_bidirectional_rnn/cell_{}/bidirectional_rnn/{}"
            cells = [below.format(i, way) for i in range(self.layers) for way in ("fw", "bw")]
        return [
            f"{cell}/{self.mode.cell}/{part}{kind}"
            for kind in ("kernel", "bias")
            for cell in cells
            for part, _, _ in self.mode.parts
        ]

    def as_cells(self, flat: Any) -> Tensors:
        """The weights of cells, in the order of `names`."""
        kernels, biases = [], []
        for halves in self.networks(flat):
            for _, order, whose in self.mode.parts:
                chosen = [self._gates(half, order) for half in halves[_OF[whose]]]
                kernels.append(concat([kernel for kernel, _ in chosen], 0))
                biases.append(add_n([bias for _, bias in chosen]))
        return [*kernels, *biases]

    def _gates(self, half: tuple[Any, Any], order: Sequence[int]) -> tuple[Any, Any]:
        return tuple(concat([split(one, self.mode.gates, -1)[k] for k in order], -1) for one in half)  # type: ignore[return-value]

    def of_cells(self, values: Sequence[Any]) -> Any:
        """The variable's value of the weights of cells; of a sum of biases each has a half."""
        shapes, gates, count = self.weight_shapes, self.mode.gates, len(values) // 2
        weights: Tensors = [None] * len(shapes)
        biases: Tensors = [None] * len(shapes)
        for i, (kernel, bias) in enumerate(zip(values[:count], values[count:], strict=True)):
            network, part = divmod(i, len(self.mode.parts))
            _, order, whose = self.mode.parts[part]
            firsts = [2 * gates * network, 2 * gates * network + gates][_OF[whose]]  # of the inputs' gates, the state's
            rows = split(kernel, [shapes[first][1] for first in firsts], 0)
            share = split(bias / len(firsts), len(order), 0)
            for first, row in zip(firsts, rows, strict=True):
                for k, matrix, one in zip(order, split(row, len(order), 1), share, strict=True):
                    weights[first + k], biases[first + k] = transpose(matrix), one
        return self.flat(weights, biases)
