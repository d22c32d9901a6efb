"""Affine bijectors of vectors. Source: TF 1.15 (`tf.contrib.distributions.bijectors`)."""

from __future__ import annotations

from typing import Any

from tfexp.distributions.bijectors.bijector import Bijector
from tfexp.distributions.checks import checked_regular
from tfexp.distributions.elementwise import of_one_type
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.linear_operators.dense import LinearOperatorLowerTriangular
from tfexp.linear_operators.derived import LinearOperatorLowRankUpdate
from tfexp.linear_operators.diagonals import LinearOperatorDiag
from tfexp.linear_operators.operator import LinearOperator
from tfexp.ops.array import shape
from tfexp.ops.array_fill import ones_like
from tfexp.ops.cast import cast
from tfexp.ops.diagonal import matrix_band_part, matrix_diag_part, matrix_set_diag
from tfexp.ops.elementwise_unary import abs as abs_
from tfexp.ops.elementwise_unary import log


class AffineLinearOperator(Bijector):
    """y = scale @ x + shift of vectors [..., k], the identity and 0 by default.

    TypeError unless scale is a LinearOperator; ValueError for one that is not known to be invertible, where arguments are
    validated. Source: `tf.contrib.distributions.bijectors.AffineLinearOperator`.
    """

    def __init__(
        self,
        shift: Any = None,
        scale: LinearOperator | None = None,
        validate_args: bool = False,
        name: str = "affine_linear_operator",
    ):
        if scale is not None and not isinstance(scale, LinearOperator):
            raise TypeError(f"scale is not an instance of tf.LinearOperator: {scale!r}")
        if validate_args and scale is not None and not scale.is_non_singular:
            raise ValueError("Scale matrix must be non-singular.")
        with name_scope(name, values=[shift]):
            kind = None if scale is None or hasattr(shift, "dtype") else scale.dtype
            self._shift: Any = None if shift is None else convert_to_tensor(shift, kind, name="shift")
        self._scale = scale
        kinds = [one.dtype.base_dtype for one in (self._shift, scale) if one is not None]
        super().__init__(
            graph_parents=[*([] if scale is None else scale.graph_parents), *([] if shift is None else [self._shift])],
            forward_min_event_ndims=1,
            is_constant_jacobian=True,
            validate_args=validate_args,
            dtype=kinds[0] if kinds else None,
            name=name,
        )

    @property
    def shift(self) -> Any:
        return self._shift

    @property
    def scale(self) -> Any:
        return self._scale

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        scaled = x if self._scale is None else self._scale.matvec(x)
        return scaled if self._shift is None else scaled + self._shift  # type: ignore[operator]

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        centered = y if self._shift is None else y - self._shift
        return centered if self._scale is None else self._scale.solvevec(centered)

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        return constant(0.0, x.dtype) if self._scale is None else self._scale.log_abs_determinant()


class Affine(AffineLinearOperator):
    """AffineLinearOperator whose scale is the sum of what is given, of vectors [..., k].

    scale_identity_multiplier: [...]; scale_diag: [..., k]; scale_tril: [..., k, k], of which the lower triangle counts;
    scale_perturb_factor: [..., k, r], added as F diag(scale_perturb_diag) F', scale_perturb_diag [..., r]. ValueError for a
    scale_perturb_diag without a factor. Source: `tf.contrib.distributions.bijectors.Affine`.
    """

    def __init__(
        self,
        shift: Any = None,
        scale_identity_multiplier: Any = None,
        scale_diag: Any = None,
        scale_tril: Any = None,
        scale_perturb_factor: Any = None,
        scale_perturb_diag: Any = None,
        validate_args: bool = False,
        name: str = "affine",
    ):
        if scale_perturb_diag is not None and scale_perturb_factor is None:
            raise ValueError("When scale_perturb_diag is specified, scale_perturb_factor must be specified.")
        given = {
            "shift": shift,
            "scale_identity_multiplier": scale_identity_multiplier,
            "scale_diag": scale_diag,
            "scale_tril": scale_tril,
            "scale_perturb_factor": scale_perturb_factor,
            "scale_perturb_diag": scale_perturb_diag,
        }
        with name_scope(name, values=list(given.values())):
            kept = of_one_type({key: value for key, value in given.items() if value is not None})
            self._multiplier: Any = kept.get("scale_identity_multiplier")
            scale = _operator(validate_args, **{key: value for key, value in kept.items() if key != "shift"})
        super().__init__(kept.get("shift"), scale, validate_args, name)

    def _times_identity(self) -> bool:
        """Whether the scale is a number, for vectors of any length."""
        return self._scale is None and self._multiplier is not None

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        return super()._forward(x * self._multiplier[..., None] if self._times_identity() else x)

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        centered = super()._inverse(y)
        return centered / self._multiplier[..., None] if self._times_identity() else centered

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        if not self._times_identity():
            return super()._forward_log_det_jacobian(x)
        length: Any = cast(shape(x)[-1], x.dtype)  # type: ignore[index]
        return log(abs_(self._multiplier)) * length  # type: ignore[operator]


def _operator(
    validate_args: bool,
    scale_identity_multiplier: Any = None,
    scale_diag: Any = None,
    scale_tril: Any = None,
    scale_perturb_factor: Any = None,
    scale_perturb_diag: Any = None,
) -> LinearOperator | None:
    """The sum of those that are given; None for a number alone, or nothing."""
    diag = scale_diag
    if scale_identity_multiplier is not None and (diag is not None or scale_tril is not None):
        wide: Any = scale_identity_multiplier[..., None]
        diag = wide if diag is None else diag + wide
    if scale_tril is not None:
        tril = matrix_band_part(scale_tril, -1, 0)
        whole: Any = matrix_diag_part(tril)
        if diag is not None:
            whole = whole + diag
            tril = matrix_set_diag(tril, whole)
        base: LinearOperator = LinearOperatorLowerTriangular(
            checked_regular(validate_args, tril, whole), is_non_singular=True
        )
    elif diag is not None or scale_perturb_factor is not None:
        if diag is None:
            ones: Any = ones_like(scale_perturb_factor[..., 0])
            diag = ones if scale_identity_multiplier is None else ones * scale_identity_multiplier[..., None]
        base = LinearOperatorDiag(checked_regular(validate_args, diag, diag), is_non_singular=True)
    else:
        return None
    if scale_perturb_factor is None:
        return base
    return LinearOperatorLowRankUpdate(base, scale_perturb_factor, scale_perturb_diag, is_non_singular=True)
