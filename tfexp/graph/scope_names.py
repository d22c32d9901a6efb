"""Names relative to a name scope, as parts of graphs are written and read. Source: `tf.contrib.framework`, TF 1.15."""

from __future__ import annotations

from typing import Any


def is_exported(name: str, export_scope: str | None) -> bool:
    """Whether what has this name is part of the export of a scope: it begins with the scope, as 'net2/w' does with 'net'.

    Of a scope that only begins like it, names stay as they are.
    """
    return not export_scope or name.startswith(export_scope)


def strip_name_scope(name: Any, export_scope: str | None) -> Any:
    """`name` (of a node, a tensor, a control input `^n` or a colocation `loc:@n`) relative to a scope it is below."""
    if not export_scope:
        return name
    mark = next((m for m in ("^", "loc:@") if name.startswith(m)), "")
    prefix = export_scope.rstrip("/") + "/"
    return mark + name[len(mark) :].removeprefix(prefix)


def prepend_name_scope(name: Any, import_scope: str | None) -> Any:
    """`name` below a scope: what `strip_name_scope` took off."""
    if not import_scope:
        return name
    mark = next((m for m in ("^", "loc:@") if name.startswith(m)), "")
    return f"{mark}{import_scope.rstrip('/')}/{name[len(mark) :]}"


def add_with_scopes(name: str, found: set[str]) -> None:
    """Add a node's name, and those of the scopes that it is in."""
    while name and name not in found:
        found.add(name)
        name = name.rpartition("/")[0]
