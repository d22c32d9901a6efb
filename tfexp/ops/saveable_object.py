"""What a Saver can keep besides variables: any op that knows how its state is written and restored.

Source: `SaveableObject` of TF 1.15's saver.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tfexp.graph.tensor import Tensor


@dataclass(frozen=True)
class SaveSpec:
    """One tensor of a checkpoint: its value, its place in a larger tensor (usually ""), its key.

    The value may be a function that makes it, among the saver's nodes; then `dtype` must say what it will be, and `device`
    may say where (None: where the saved op is).
    """

    tensor: Tensor | Callable[[], Tensor]
    slice_spec: str
    name: str
    dtype: Any = None
    device: str | None = None

    def __post_init__(self) -> None:
        if self.dtype is None:
            if callable(self.tensor):
                raise ValueError(f"A tensor of a checkpoint that a function makes needs a dtype: {self.name!r}")
            object.__setattr__(self, "dtype", self.tensor.dtype.base_dtype)
        if self.device is None and not callable(self.tensor):
            object.__setattr__(self, "device", self.tensor.device)


class SaveableObject:
    """`op` is what is saved, `specs` the tensors that are written, `name` the key when there is only one."""

    def __init__(self, op: Any, specs: Sequence[SaveSpec], name: str):
        self.op = op
        self.specs = list(specs)
        self.name = name
        made_on = self.specs[0].device if self.specs else None
        self.device: str = getattr(op, "device", "") if made_on is None else made_on

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Any) -> Any:
        """The operation that puts these values, in the order of `specs`, back."""
        raise NotImplementedError
