"""Products over any axes: `tf.einsum` and `tf.tensordot`."""

from __future__ import annotations

import math
import re
import string
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.kernel import BindRequest, Call
from tfexp.core.op import define_op, get_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import array, array_fill, array_join, broadcast, complex_numbers, reduce
from tfexp.ops.array_order import transpose
from tfexp.ops.matmul import matmul

# --- einsum ---------------------------------------------------------------------------------------------------------

einsum_op = define_op("Einsum(inputs: N * T) -> (output: T) {equation: string; N: int >= 1; T: type}")


def _sides(equation: str) -> tuple[list[str], str]:
    """The labels of the inputs and of the output; ValueError when the equation is none."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if not arrow or any(not re.fullmatch(r"[A-Za-z]*(\.\.\.)?[A-Za-z]*", t) for t in [*terms, right]):
        raise ValueError(f"Expecting exactly one '->' in einsum equation, and labels: {equation}")
    return terms, right


def _named_dims(term: str, rank: int) -> list[str]:
    """One name per dimension; those of an ellipsis are numbered from the last, as they broadcast."""
    before, dots, after = term.partition("...")
    hidden = rank - len(before) - len(after)
    if (not dots and hidden) or hidden < 0:
        raise ValueError(f"Expected input with labels {term!r} to have rank {len(term.replace('...', ''))} but got {rank}")
    return [*before, *(f"...{i}" for i in range(hidden - 1, -1, -1)), *after]


@einsum_op.shape
def _(inputs: Sequence[InputShape], *, equation: str) -> TensorShape:
    terms, output = _sides(equation)
    if len(terms) != len(inputs):
        raise ValueError(f"Expected {len(terms)} inputs for equation {equation} but got: {len(inputs)}")
    if any(x.rank is None for x in inputs):
        if "..." in output:
            return TensorShape(None)
        return TensorShape([None] * len(output))
    sizes: dict[str, int | None] = {}
    for term, x in zip(terms, inputs, strict=True):
        for name, size in zip(_named_dims(term, x.rank or 0), x.known_dims or (), strict=True):
            known = sizes.get(name, 1 if name.startswith("...") else size)
            if name.startswith("...") and 1 in (known, size):
                sizes[name] = size if known == 1 else known
            elif known is not None and size is not None and known != size:
                raise ValueError(f"Dimensions must be equal, but are {known} and {size}")
            else:
                sizes[name] = size if known is None else known
    hidden = sum(name.startswith("...") for name in sizes)
    return TensorShape(
        [sizes[name] for name in _named_dims(output, len(output.replace("...", "")) + hidden * ("..." in output))]
    )


def _einsum(equation: str, inputs: Sequence[np.ndarray]) -> np.ndarray:
    try:
        return np.asarray(np.einsum(equation, *inputs, optimize=len(inputs) > 1)).astype(inputs[0].dtype, copy=False)
    except ValueError as error:
        raise InvalidArgumentError(None, None, f"Einsum {equation!r}: {error}") from None


@einsum_op.kernel("CPU")
def _(ctx: Any, inputs: Sequence[np.ndarray], *, equation: str) -> np.ndarray:
    result = _einsum(equation.replace(" ", ""), inputs)
    # One operand may come back as a view of itself.
    return np.array(result) if len(inputs) == 1 else result


@einsum_op.bind
def _(node: BindRequest) -> Call | None:
    equation = node.attrs["equation"].replace(" ", "")
    if len(node.input_shapes) == 1:
        return None
    return Call(lambda *inputs: _einsum(equation, inputs))


@einsum_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor]:
    # The gradient of one input is the product of the output's gradient with the other inputs, its labels as the output.
    # Labels that only this input has were summed over: the gradient is repeated along them.
    terms, output = _sides(op.attrs["equation"])
    if any(len(set(t)) < len(t.replace("...", "")) for t in terms):
        raise NotImplementedError(f"{op.name}: the gradient of an einsum with a repeated label in one input")
    if len(terms) == 1:
        return [_grad_of_one(op.inputs[0], terms[0], output, grad)]
    if len(terms) > 2:
        raise NotImplementedError(f"{op.name}: the gradient of the Einsum node of {len(terms)} inputs")
    x, y = op.inputs
    shape_x, shape_y = array.shape(x), array.shape(y)
    grad_x = _grad_of_side(grad, output, complex_numbers.conj(y), terms[1], terms[0], shape_x)
    grad_y = _grad_of_side(grad, output, complex_numbers.conj(x), terms[0], terms[1], shape_y)
    if "..." not in output:
        return [grad_x, grad_y]
    return [_summed_to(grad_x, shape_x), _summed_to(grad_y, shape_y)]


def _labels(term: str) -> list[str]:
    return re.findall(r"\.\.\.|[A-Za-z]", term)


def _grad_of_side(grad: Tensor, output: str, other: Tensor, other_term: str, term: str, shape: Tensor) -> Tensor:
    own = [label for label in _labels(term) if label != "..." and label not in other_term + output]
    if not own:
        target = term if "..." not in output or "..." in term else f"...{term}"
        return einsum_op([grad, other], equation=f"{output},{other_term}->{target}")
    reduced = "".join(label for label in _labels(term) if label not in own)
    partial = einsum_op([grad, other], equation=f"{output},{other_term}->{reduced}")
    return _repeated(partial, term, own, shape)


def _grad_of_one(x: Tensor, term: str, output: str, grad: Tensor) -> Tensor:
    shape = array.shape(x)
    own = [label for label in _labels(term) if label != "..." and label not in output]
    ordered = "".join(label for label in _labels(term) if label not in own)
    if "..." in term and "..." not in output:
        raise NotImplementedError(f"Einsum {term}->{output}: the gradient where an ellipsis is summed over")
    if ordered != output:
        grad = einsum_op([grad], equation=f"{output}->{ordered}")
    return _repeated(grad, term, own, shape) if own else grad


def _repeated(grad: Tensor, term: str, own: list[str], shape: Tensor) -> Tensor:
    """`grad`, without the dimensions `own`, repeated along them to `shape`, that of labels `term`."""
    labels = _labels(term)
    dots = labels.index("...") if "..." in labels else len(labels)
    axes = [i if i < dots else i - len(labels) for i, label in enumerate(labels) if label in own]
    # From the front for axes before the ellipsis, from the back for those after it.
    for axis in [a for a in axes if a >= 0] + sorted(a for a in axes if a < 0)[::-1]:
        grad = array.expand_dims(grad, axis)
    return array_fill.broadcast_to(grad, shape)


def _summed_to(grad: Tensor, shape: Tensor) -> Tensor:
    """Sum what the ellipsis broadcast: the leading dimensions, and those that were 1."""
    axes, _ = broadcast.broadcast_gradient_args(shape, array.shape(grad))
    return array.reshape(reduce.reduce_sum(grad, axes), shape)


def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Tensor:
    """The sum of products that `equation` (`ij,jk->ik`) describes; without `->`, labels that occur once are kept.

    Source: `tf.einsum`. ValueError for equations that make no sense or inputs that do not fit.
    """
    name = kwargs.pop("name", None)
    if kwargs:
        raise TypeError(f"Invalid keyword arguments for einsum: {', '.join(sorted(kwargs))}")
    if len(inputs) == 1 and isinstance(inputs[0], (list, tuple)):
        inputs = tuple(inputs[0])
    with name_scope(name, "einsum", [equation, *inputs]):
        tensors = [convert_to_tensor(x) for x in inputs]
        full = _with_output(equation)
        terms, output = _sides(full)
        if len(terms) != len(tensors):
            raise ValueError(f"Got {len(tensors)} arguments for equation {equation!r}, expecting {len(terms)}")
        unknown = sorted({label for label in output if label not in "".join(terms)})
        if unknown:
            raise ValueError(f"Output subscripts contain the label {unknown[0]} not present in the input subscripts: {full}")
        labels = output.replace("...", "")
        if len(set(labels)) != len(labels):
            raise ValueError(f"Output subscripts contain a label appearing more than once: {full}")
        # More than two are multiplied from the left, keeping the labels that are needed later.
        while len(terms) > 2:
            needed = "".join(terms[2:]) + output
            kept = "".join(dict.fromkeys(c for c in terms[0] + terms[1] if c != "." and c in needed))
            kept = "..." + kept if "..." in terms[0] + terms[1] else kept
            tensors[:2] = [einsum_op(tensors[:2], equation=f"{terms[0]},{terms[1]}->{kept}")]
            terms[:2] = [kept]
        return einsum_op(tensors, equation=f"{','.join(terms)}->{output}")


def _with_output(equation: str) -> str:
    text = equation.replace(" ", "")
    if "->" in text:
        return text
    letters = [c for c in text if c in string.ascii_letters]
    output = "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    return f"{text}->{'...' if '...' in text else ''}{output}"


# --- tensordot ------------------------------------------------------------------------------------------------------


def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Tensor:
    """The sum of products over pairs of axes; an int n: the last n of `a` with the first n of `b`. `tf.tensordot`.

    Done by one matrix product of transposed and reshaped arguments. ValueError when `axes` do not fit,
    IndexError for one that a tensor does not have.
    """
    with name_scope(name, "Tensordot", [a, b, axes]) as scope:
        a = convert_to_tensor(a, name="a")
        b = convert_to_tensor(b, name="b")
        a_axes, b_axes = _axes_of(a, axes)
        for x, its_axes in ((a, a_axes), (b, b_axes)):
            ndims = x.shape.ndims
            if ndims is not None and isinstance(its_axes, list) and any(not -ndims <= axis < ndims for axis in its_axes):
                raise IndexError(f"axes {its_axes} are out of range for a tensor of {ndims} dimensions")
        left, a_free, a_static = _as_matrix(a, a_axes, contract_last=True)
        right, b_free, b_static = _as_matrix(b, b_axes, contract_last=False)
        product = matmul(left, right)
        if isinstance(a_free, list) and isinstance(b_free, list):
            dims = a_free + b_free
            if product.shape.is_fully_defined() and product.shape.as_list() == dims:
                return product
            return array.reshape(product, dims, name=scope)
        a_free, b_free = (
            convert_to_tensor(f, dtype=dtypes.int32, name="Const") if isinstance(f, list) else f for f in (a_free, b_free)
        )
        result = array.reshape(product, array_join.concat([a_free, b_free], 0), name=scope)
        if a_static is not None and b_static is not None:
            result.set_shape(a_static + b_static)
        return result


def _axes_of(a: Tensor, axes: Any) -> tuple[Any, Any]:
    """The axes of each argument: lists, or tensors where the graph says them only when it runs."""
    if isinstance(axes, (int, np.integer)):
        if axes < 0:
            raise ValueError(f"'axes' must be at least 0, not {axes}")
        if a.shape.ndims is None:
            rank = array.rank(a)
            return array_fill.range(rank - axes, rank), array_fill.range(axes)  # type: ignore[operator]
        if axes > a.shape.ndims:
            raise ValueError(f"'axes' must not be larger than the number of dimensions of tensor {a}.")
        return list(range(a.shape.ndims - axes, a.shape.ndims)), list(range(axes))
    if isinstance(axes, Tensor):
        axes = convert_to_tensor(axes, dtype=dtypes.int32, name="axes")
        return axes[0], axes[1]
    if len(axes) != 2:
        raise ValueError(f"'axes' must be an integer or have length 2, not {axes}")
    pair = [[int(x) for x in np.ravel(side)] for side in axes]
    if len(pair[0]) != len(pair[1]):
        raise ValueError(f"Different number of contraction axes 'a' and 'b', {len(pair[0])} != {len(pair[1])}.")
    return pair[0], pair[1]


def _as_matrix(x: Tensor, axes: Any, contract_last: bool) -> tuple[Tensor, Any, list[int | None] | None]:
    """`x` with the contracted axes joined on one side and the free ones on the other; the free dimensions; as known."""
    dims = x.shape.known_dims
    if dims is not None and isinstance(axes, list):
        axes = [i % len(dims) for i in axes]
        free = [i for i in range(len(dims)) if i not in axes]
        static = [dims[i] for i in free]
        if None not in dims:
            sides = [math.prod(dims[i] or 0 for i in part) for part in (free, axes)]
            order, shape = (free + axes, sides) if contract_last else (axes + free, sides[::-1])
            moved = x if order == sorted(order) else transpose(x, order)
            joined = moved if moved.shape.as_list() == shape else array.reshape(moved, shape)
            return joined, static, static
        axes_tensor = convert_to_tensor(axes, dtype=dtypes.int32, name="axes")
        free_tensor = convert_to_tensor(free, dtype=dtypes.int32, name="free")
        shape_tensor = array.shape(x)
    else:
        static = None
        shape_tensor = array.shape(x)
        rank = array.rank(x)
        axes_tensor = convert_to_tensor(axes, dtype=dtypes.int32, name="axes")
        axes_tensor = get_op("Select")(axes_tensor >= 0, axes_tensor, axes_tensor + rank)
        free_tensor, _ = get_op("ListDiff")(array_fill.range(rank), axes_tensor)
    free_dims = get_op("GatherV2")(shape_tensor, free_tensor, 0)
    axes_dims = get_op("GatherV2")(shape_tensor, axes_tensor, 0)
    free_size, axes_size = reduce.reduce_prod(free_dims), reduce.reduce_prod(axes_dims)
    if contract_last:
        order_tensor = array_join.concat([free_tensor, axes_tensor], 0)
        matrix_shape = array_join.stack([free_size, axes_size])
    else:
        order_tensor = array_join.concat([axes_tensor, free_tensor], 0)
        matrix_shape = array_join.stack([axes_size, free_size])
    return array.reshape(transpose(x, order_tensor), matrix_shape), free_dims, static
