"""`tensorflow.tools.common`: a visit to every module and class of a namespace. Source: TF 1.15."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

from tfexp.core.gone import is_tensorflows

Children = list[tuple[str, Any]]
Visitor = Callable[[str, Any, Children], Any]


def traverse(root: Any, visit: Visitor) -> None:
    """Call `visit(path, parent, children)` for a module or class and for those below it; `path` of the root is empty.

    children: the names and values in order. What `visit` takes out of the list is not visited, nor is what contains itself.
    """
    _traverse(root, visit, [], "")


def _traverse(root: Any, visit: Visitor, above: list[Any], path: str) -> None:
    if not inspect.isclass(root) and not inspect.ismodule(root):
        return
    try:
        children = inspect.getmembers(root)
    except ImportError:  # a module that imports others when they are asked for
        children = []
    within = [*above, root]
    visit(path, root, children)
    for name, child in children:
        if not any(child is one for one in within):
            _traverse(child, visit, within, f"{path}.{name}" if path else name)


class PublicAPIVisitor:
    """For `traverse`: `visitor` gets the children without private ones, and what is not TensorFlow's own is not visited.

    private_map, do_not_descend_map: {path: names} of what is private, and of what is shown and not visited.
    """

    def __init__(self, visitor: Visitor):
        self._visitor = visitor
        self._root_name = "tf"
        self._private_map = {"tf.flags": ["cpp_flags"]}
        self._do_not_descend_map = {
            "tf": [
                *("compiler", "core", "examples", "flags", "platform", "pywrap_tensorflow"),
                *("user_ops", "python", "tools", "tensorboard"),
            ],
            "tf.app": ["flags"],
            "tf.test": ["mock"],
            "tf.keras": ["applications", "preprocessing"],
        }

    @property
    def private_map(self) -> dict[str, list[str]]:
        return self._private_map

    @property
    def do_not_descend_map(self) -> dict[str, list[str]]:
        return self._do_not_descend_map

    def set_root_name(self, root_name: str) -> None:
        """What the paths of both maps begin with, in the place of `tf`."""
        self._root_name = root_name

    def _is_private(self, path: str, name: str, obj: Any = None) -> bool:
        if name in ("__base__", "__class__") or name in self._private_map.get(path, ()):
            return True
        if inspect.ismodule(obj) and obj.__name__.startswith("tfexp.") and not is_tensorflows(f"{path}.{name}"):
            return True  # one of ours, in the folder of a public namespace
        return name.startswith("_") and not re.fullmatch(r"__.*__", name)

    def _do_not_descend(self, path: str, name: str) -> bool:
        return name in self._do_not_descend_map.get(path, ())

    def __call__(self, path: str, parent: Any, children: Children) -> None:
        full = f"{self._root_name}.{path}" if path else self._root_name
        children[:] = [(name, child) for name, child in children if not self._is_private(full, name, child)]
        self._visitor(path, parent, children)
        children[:] = [(name, child) for name, child in children if not self._do_not_descend(full, name)]
