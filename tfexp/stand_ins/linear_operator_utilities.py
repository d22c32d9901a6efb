"""`tensorflow.python.ops.linalg.linear_operator_util`: checks and equations that linear operators share. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import no_op
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.linear_operators import batches
from tfexp.linear_operators.derived import LinearOperatorAdjoint
from tfexp.linear_operators.operator import LinearOperator
from tfexp.ops import array, broadcast_shapes, check_compare, complex_numbers, linalg
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_unary import abs as absolute
from tfexp.ops.variable_base import VariableV2


def _to_complex(x: Any) -> Tensor:
    """As complex numbers of the same precision, at least 64 bits."""
    return cast(x, dtypes.complex128 if x.dtype in (dtypes.float64, dtypes.complex128) else dtypes.complex64)


def assert_no_entries_with_modulus_zero(x: Any, message: str | None = None, name: str | None = None) -> Any:
    """An op that fails in the run where an element is 0."""
    with name_scope(name or "assert_no_entries_with_modulus_zero", values=[x]):
        modulus = absolute(convert_to_tensor(x, name="x"))
        return check_compare.assert_less(convert_to_tensor(0, modulus.dtype), modulus, message=message)


def assert_zero_imag_part(x: Any, message: str | None = None, name: str | None = None) -> Any:
    """An op that fails in the run where an element has an imaginary part."""
    with name_scope(name or "assert_zero_imag_part", values=[x]):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_complex:
            return no_op()
        part = complex_numbers.imag(x)
        return check_compare.assert_equal(convert_to_tensor(0, part.dtype), part, message=message)


def assert_compatible_matrix_dimensions(operator: LinearOperator, x: Tensor) -> Any:
    """An op that fails in the run unless `x` has as many rows as the operator has columns."""
    rows: Any = array.shape(x)
    return check_compare.assert_equal(operator.domain_dimension_tensor(), rows[-2], message="Dimensions are not compatible")


def assert_is_batch_matrix(tensor: Tensor) -> None:
    """ValueError for what is known to be no matrix nor a batch of them."""
    if tensor.shape.rank is not None and tensor.shape.rank < 2:
        raise ValueError(f"Expected [batch] matrix to have at least two dimensions.  Found: {tensor}")


def shape_tensor(shape: Any, name: str | None = None) -> Tensor:
    """A shape as a tensor, int32 if it is written in Python numbers."""
    if isinstance(shape, (TensorShape, tuple, list)) and not any(isinstance(size, Tensor) for size in shape):
        shape = TensorShape(shape).as_list()
        return convert_to_tensor(shape, dtype="int32", name=name)
    return convert_to_tensor(shape, name=name)


def broadcast_matrix_batch_dims(batch_matrices: Any, name: str | None = None) -> list[Tensor]:
    """Matrices [..., m, n] with all leading dimensions broadcast. ValueError for no matrices, or where they cannot be."""
    with name_scope(name or "broadcast_matrix_batch_dims", values=batch_matrices):
        if not isinstance(batch_matrices, (list, tuple)):
            raise TypeError(f"batch_matrices was not iterable, or no list: {batch_matrices!r}")
        matrices = [convert_to_tensor(matrix) for matrix in batch_matrices]
        for matrix in matrices:
            assert_is_batch_matrix(matrix)
        if len(matrices) < 2:
            return matrices
        dynamic, static = batches.batch_of(matrices[0], 2), batches.static_batch(matrices[0], 2)
        for matrix in matrices[1:]:
            static = broadcast_shapes.broadcast_static_shape(static, batches.static_batch(matrix, 2))
            dynamic = broadcast_shapes.broadcast_dynamic_shape(dynamic, batches.batch_of(matrix, 2))
        return [batches.repeated(matrix, dynamic, static) for matrix in matrices]


def cholesky_solve_with_broadcast(chol: Any, rhs: Any, name: str | None = None) -> Tensor:
    """`cholesky_solve` of matrices whose leading dimensions broadcast."""
    with name_scope(name or "CholeskySolveWithBroadcast", values=[chol, rhs]):
        factor, sides = broadcast_matrix_batch_dims([chol, rhs])
        return linalg.cholesky_solve(factor, sides)


def matrix_solve_with_broadcast(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """`matrix_solve` of matrices whose leading dimensions broadcast."""
    with name_scope(name or "MatrixSolveWithBroadcast", values=[matrix, rhs]):
        return batches.solve(convert_to_tensor(matrix), convert_to_tensor(rhs), adjoint)


def matrix_triangular_solve_with_broadcast(
    matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """`matrix_triangular_solve` of matrices whose leading dimensions broadcast."""
    with name_scope(name or "MatrixTriangularSolve", values=[matrix, rhs]):
        return batches.triangular_solve(convert_to_tensor(matrix), convert_to_tensor(rhs), lower, adjoint)


def use_operator_or_provided_hint_unless_contradicting(
    operator: LinearOperator, hint_attr_name: str, provided_hint_value: bool | None, message: str
) -> bool | None:
    """The hint that the operator or the caller has; ValueError(message) where the two contradict each other."""
    own = getattr(operator, hint_attr_name)
    if None not in (own, provided_hint_value) and own != provided_hint_value:
        raise ValueError(message)
    return True if own or provided_hint_value else False if False in (own, provided_hint_value) else None


def is_adjoint_pair(x: LinearOperator, y: LinearOperator) -> bool:
    """Whether one operator is known to be the other's adjoint."""
    if x is y:
        return bool(x.is_self_adjoint)
    return any(isinstance(a, LinearOperatorAdjoint) and a.operator is b for a, b in ((x, y), (y, x)))


def is_aat_form(operators: Sequence[LinearOperator]) -> bool:
    """Whether the product of the operators is known to be A A^H."""
    if len(operators) % 2:
        raise ValueError(f"AAT form is of an even number of operators, not of {len(operators)}")
    return all(is_adjoint_pair(a, b) for a, b in zip(operators, reversed(operators), strict=True))


# --- arguments that may be variables -------------------------------------------------------------------------------------


def base_dtype(dtype: Any) -> Any:
    """The type that a reference refers to; what is no type of TensorFlow's comes back as it is."""
    return getattr(dtype, "base_dtype", dtype)


def dtype_name(dtype: Any) -> str:
    """A type's name, be it TensorFlow's, NumPy's or Python's."""
    dtype = base_dtype(dtype)
    name: str = dtype.name if hasattr(dtype, "name") else getattr(dtype, "__name__", str(dtype))
    return name


def is_ref(x: Any) -> bool:
    """Whether it can change from step to step: a variable, behind a handle or not."""
    return isinstance(x, VariableV2)


def assert_not_ref_type(x: Any, arg_name: str) -> None:
    """TypeError for a variable."""
    if is_ref(x):
        raise TypeError(f"Argument {arg_name} cannot be reference type. Found: {type(x)}")


def convert_nonref_to_tensor(value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None) -> Any:
    """A tensor; None and variables come back as they are. TypeError for a variable that is not of type `dtype`."""
    if value is None:
        return None
    if not is_ref(value):
        return convert_to_tensor(value, dtype, name=name, preferred_dtype=dtype_hint)
    if dtype is not None and base_dtype(dtype) != base_dtype(value.dtype):
        found = dtype_name(value.dtype)
        raise TypeError(f'Mutable type must be of dtype "{dtype_name(dtype)}" but is "{found}".')
    return value
