"""The part of `Graph` that finds tensors and operations by name or object. Source: `tf.Graph.as_graph_element`, TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor


class Elements:
    """Look-ups among the nodes in `_by_name`."""

    _by_name: dict[str, Operation]

    def as_graph_element(self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True) -> Any:
        """The Tensor or Operation that `obj` is, names, or converts to (variables, through `_as_graph_element`).

        Raises ValueError for a malformed name or another graph's element, KeyError for a name that the graph does not
        have, TypeError for anything else.
        """
        wanted = " or ".join(["Tensor"] * allow_tensor + ["Operation"] * allow_operation)
        if not wanted:
            raise ValueError("allow_tensor and allow_operation can't both be False.")
        as_element = getattr(obj, "_as_graph_element", None)
        if as_element is not None:
            obj = as_element()
        if isinstance(obj, (str, bytes)):
            name = obj if isinstance(obj, str) else obj.decode()
            if ":" in name and allow_tensor:
                return self._tensor_named(name)
            if ":" not in name and allow_operation:
                if name not in self._by_name:
                    raise KeyError(f"The name {name!r} refers to an Operation not in the graph.")
                return self._by_name[name]
            raise self._wrong_kind_of_name(name, wanted)
        if (isinstance(obj, Tensor) and allow_tensor) or (isinstance(obj, Operation) and allow_operation):
            if obj.graph is not self:
                kind = "Tensor" if isinstance(obj, Tensor) else "Operation"
                raise ValueError(f"{kind} {obj} is not an element of this graph.")
            return obj
        raise TypeError(f"Can not convert a {type(obj).__name__} into a {wanted}.")

    def _tensor_named(self, name: str) -> Tensor:
        op_name, _, index_text = name.rpartition(":")
        if not op_name or not index_text.isdigit() or ":" in op_name:
            raise ValueError(
                f"The name {name!r} looks a like a Tensor name, but is not a valid one. Tensor names must be of the form "
                '"<op_name>:<output_index>".'
            )
        op = self._by_name.get(op_name)
        if op is None:
            raise KeyError(
                f"The name {name!r} refers to a Tensor which does not exist. The operation, {op_name!r}, does not exist in "
                "the graph."
            )
        if int(index_text) >= len(op.outputs):
            raise KeyError(
                f"The name {name!r} refers to a Tensor which does not exist. The operation, {op_name!r}, exists but only "
                f"has {len(op.outputs)} outputs."
            )
        return op.outputs[int(index_text)]

    def _wrong_kind_of_name(self, name: str, wanted: str) -> ValueError:
        if ":" in name:
            return ValueError(f"Name {name!r} appears to refer to a Tensor, not a {wanted}.")
        if name in self._by_name:
            return ValueError(
                f"The name {name!r} refers to an Operation, not a {wanted}. Tensor names must be of the form "
                '"<op_name>:<output_index>".'
            )
        return ValueError(
            f"The name {name!r} looks like an (invalid) Operation name, not a {wanted}. Tensor names must be of the form "
            '"<op_name>:<output_index>".'
        )

    def get_operation_by_name(self, name: str) -> Operation:
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings (or similar), not {type(name).__name__}.")
        operation: Operation = self.as_graph_element(name, allow_tensor=False)
        return operation

    def get_tensor_by_name(self, name: str) -> Tensor:
        if not isinstance(name, str):
            raise TypeError(f"Tensor names are strings (or similar), not {type(name).__name__}.")
        tensor: Tensor = self.as_graph_element(name, allow_operation=False)
        return tensor
