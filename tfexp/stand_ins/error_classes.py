"""Errors by their codes, as `tensorflow.python.framework.errors_impl` has them. Source: TF 1.15."""

from __future__ import annotations

import contextlib
from typing import Any

from tfexp.core.errors import OpError, exception_type_from_error_code


def _make_specific_exception(node_def: Any, op: Any, message: str, error_code: int) -> OpError:
    """The error of that code; for a code that has no class, an OpError."""
    try:
        return exception_type_from_error_code(error_code)(node_def, op, message)
    except KeyError:
        return OpError(node_def, op, f"Unknown error code {error_code}: {message}", error_code)


class raise_exception_on_not_ok_status(contextlib.AbstractContextManager[None]):  # noqa: N801 (TensorFlow's name)
    """A block: what fails in it raises its error anyway."""

    def __exit__(self, *what: object) -> None:
        return None
