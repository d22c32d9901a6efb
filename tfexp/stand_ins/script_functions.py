"""`script_ops._py_funcs`: the Python functions that nodes of graphs call. Source: TF 1.15."""

from __future__ import annotations

from tfexp.ops import py_func


class FuncRegistry:
    """Functions are registered by the nodes that call them, and go when their graphs do."""

    def size(self) -> int:
        return len(py_func._registered)


_py_funcs = FuncRegistry()
