"""HDF5 files. h5py, an optional package, is imported here, when first needed; lists of texts in a file's attributes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

HDF5_ENDINGS = (".h5", ".keras", ".hdf5")
# HDF5 keeps attributes within an object's header, of at most 64 KiB.
HEADER_LIMIT = 64512


def h5py_for(purpose: str) -> Any:
    """The module h5py. ImportError: `purpose` (`load_model`) needs it, and it is not installed."""
    try:
        import h5py
    except ImportError as error:
        raise ImportError(f"`{purpose}` requires h5py: pip install 'tfexp[hdf5]' (or h5py).") from error
    return h5py


def is_open_file(value: Any) -> bool:
    """Whether it is an open HDF5 file or group, rather than a path."""
    return hasattr(value, "attrs") and hasattr(value, "create_group")


def write_texts(group: Any, name: str, texts: Sequence[str | bytes]) -> None:
    """Keeps texts as the group's attribute of that name; as `name0`, `name1`, … where one would be too large.

    RuntimeError: a single text is too large.
    """
    data = [text.encode("utf8") if isinstance(text, str) else text for text in texts]
    if too_long := [text for text in data if len(text) > HEADER_LIMIT]:
        raise RuntimeError(
            f"The following attributes cannot be saved to HDF5 file because they are larger than {HEADER_LIMIT} bytes: "
            f"{too_long}"
        )
    array = np.asarray(data)
    chunks = 1
    while any(part.nbytes > HEADER_LIMIT for part in np.array_split(array, chunks)):
        chunks += 1
    if chunks == 1:
        group.attrs[name] = data
    else:
        for number, part in enumerate(np.array_split(array, chunks)):
            group.attrs[f"{name}{number}"] = part


def read_texts(group: Any, name: str) -> list[str]:
    """What `write_texts` kept; none where there is no such attribute."""
    if name in group.attrs:
        return [text_of(one) for one in group.attrs[name]]
    found: list[str] = []
    number = 0
    while f"{name}{number}" in group.attrs:
        found += [text_of(one) for one in group.attrs[f"{name}{number}"]]
        number += 1
    return found


def text_of(value: Any) -> str:
    """An attribute's text, which older versions of h5py gave as bytes."""
    return value.decode("utf8") if isinstance(value, bytes) else str(value)
