"""The `tf.errors` exception that a failed file operation is reported as."""

from __future__ import annotations

import errno
import os

from tfexp.core import errors

_CLASSES: dict[int | None, type[errors.OpError]] = {
    errno.ENOENT: errors.NotFoundError,
    errno.EACCES: errors.PermissionDeniedError,
    errno.EPERM: errors.PermissionDeniedError,
    errno.EROFS: errors.PermissionDeniedError,
    errno.EEXIST: errors.AlreadyExistsError,
    errno.ENOSPC: errors.ResourceExhaustedError,
    errno.EDQUOT: errors.ResourceExhaustedError,
    errno.EMFILE: errors.ResourceExhaustedError,
    errno.EISDIR: errors.FailedPreconditionError,
    errno.ENOTDIR: errors.FailedPreconditionError,
}


def file_error(path: str, error: OSError) -> errors.OpError:
    """The exception for `error` at `path`: `<path>; No such file or directory`, as TensorFlow words it."""
    reason = os.strerror(error.errno) if error.errno is not None else str(error)
    return _CLASSES.get(error.errno, errors.UnknownError)(None, None, f"{path}; {reason}")
