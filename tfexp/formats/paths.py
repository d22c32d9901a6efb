"""Paths as programs write them, and as the operating system takes them."""

from __future__ import annotations

import os
import re

from tfexp.core.errors import UnimplementedError

_SCHEME = re.compile(r"([a-zA-Z][0-9a-zA-Z.]*)://[^/]*")


def split_scheme(path: str | bytes | os.PathLike[str]) -> tuple[str, str]:
    """(`file://` and the host that may follow, or nothing; the path on this machine).

    UnimplementedError for other schemes.
    """
    text = os.fsdecode(path)
    scheme = _SCHEME.match(text)
    if scheme is None:
        return "", text
    if scheme[1] != "file":
        raise UnimplementedError(None, None, f"File system scheme '{scheme[1]}' not implemented (file: '{text}')")
    return scheme[0], text[scheme.end() :]


def local_path(path: str | bytes | os.PathLike[str]) -> str:
    """The path on this machine, without a scheme. UnimplementedError for other schemes than `file`."""
    return split_scheme(path)[1]
