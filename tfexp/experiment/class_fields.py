"""The settings of a schema class, read from its module's text: nothing is imported, so that completion is quick.

Knows what schema classes are made of: annotated fields, `bounded(…, says="…")`, bases and enums of the same module or
imported with `from … import`. What is written otherwise is not found, and then not offered.
"""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["Field", "fields_of", "section_class"]

_SCHEMA = "tfexp.experiment.schema"


@dataclass(frozen=True)
class Field:
    """`kind` is the annotation as it is written, `choices` what an enum or a truth value can be."""

    name: str
    says: str
    kind: str
    choices: tuple[str, ...]


def section_class(section: str) -> str:
    """The class of a section that names none: `train` has `Train`."""
    return f"{_SCHEMA}:{section.capitalize()}"


def fields_of(target: str) -> dict[str, Field]:
    """The fields of the class that "package.module:Class" names, its bases' first; {} if it is not found."""
    module, _, name = target.partition(":")
    found = _class(module, name)
    if found is None:
        return {}
    where, node = found
    fields: dict[str, Field] = {}
    for base in node.bases:
        if isinstance(base, ast.Name):
            fields.update(fields_of(f"{where}:{base.id}"))
    for line in node.body:
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
            kind = ast.unparse(line.annotation)
            if not kind.startswith("ClassVar"):
                fields[line.target.id] = Field(line.target.id, _says(line.value), kind, _members(where, kind))
    return fields


def _says(value: ast.expr | None) -> str:
    if isinstance(value, ast.Call):
        for keyword in value.keywords:
            if keyword.arg == "says" and isinstance(keyword.value, ast.Constant):
                return str(keyword.value.value)
    return ""


def _members(module: str, kind: str) -> tuple[str, ...]:
    name = kind.removesuffix(" | None")
    none = ("null",) if name != kind else ()
    if name == "bool":
        return ("true", "false", *none)
    found = _class(module, name) if name.isidentifier() else None
    if found is None or not any(isinstance(base, ast.Name) and base.id == "Enum" for base in found[1].bases):
        return ()
    members = [line.targets[0] for line in found[1].body if isinstance(line, ast.Assign)]
    return (*(target.id for target in members if isinstance(target, ast.Name)), *none)


def _class(module: str, name: str) -> tuple[str, ast.ClassDef] | None:
    """(module that defines it, its definition) of the class that has this name in `module`."""
    tree = _tree(module)
    for node in tree.body if tree is not None else ():
        if isinstance(node, ast.ClassDef) and node.name == name:
            return module, node
        if isinstance(node, ast.ImportFrom) and node.module and node.module != module:
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return _class(node.module, alias.name)
    return None


@cache
def _tree(module: str) -> ast.Module | None:
    inside = Path(*module.split("."))
    package = Path(__file__).resolve().parents[2]
    for folder in (package, Path.cwd(), *map(Path, sys.path)):
        path = folder / inside.with_suffix(".py")
        if path.is_file():
            try:
                return ast.parse(path.read_text(encoding="utf-8"))
            except (SyntaxError, UnicodeDecodeError):  # of the user's own; running says so, completing is silent
                return None
    return None
