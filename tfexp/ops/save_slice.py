"""`SaveSliceInfo`: which part of a larger, partitioned variable a variable is, so that a checkpoint stores one tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorboard.compat.proto import variable_pb2

from tfexp.graph.scope_names import is_exported, strip_name_scope


class SaveSliceInfo:
    """The slice `[var_offset, var_offset + var_shape)` of a tensor of `full_shape` that is saved as `full_name`.

    Built from those four or from a `SaveSliceInfoDef` (whose name `import_scope` is put before). Source:
    `tf.Variable.SaveSliceInfo`, TF 1.15.
    """

    def __init__(
        self,
        full_name: str | None = None,
        full_shape: Sequence[int] | None = None,
        var_offset: Sequence[int] | None = None,
        var_shape: Sequence[int] | None = None,
        save_slice_info_def: Any = None,
        import_scope: str | None = None,
    ):
        if save_slice_info_def is not None:
            name = save_slice_info_def.full_name
            self.full_name: str | None = f"{import_scope}/{name}" if import_scope else name
            self.full_shape: Any = list(save_slice_info_def.full_shape)
            self.var_offset: Any = list(save_slice_info_def.var_offset)
            self.var_shape: Any = list(save_slice_info_def.var_shape)
        else:
            self.full_name, self.full_shape = full_name, full_shape
            self.var_offset, self.var_shape = var_offset, var_shape

    @property
    def spec(self) -> str:
        """The slice as checkpoints spell it: the full shape, then `offset,length` for each dimension, `7 2 0,3:0,2`."""
        lengths = ":".join(f"{o},{s}" for o, s in zip(self.var_offset, self.var_shape, strict=True))
        return " ".join(map(str, self.full_shape)) + " " + lengths

    def to_proto(self, export_scope: str | None = None) -> Any:
        """As `SaveSliceInfoDef`, the name relative to `export_scope`; None when it does not lie below that scope."""
        name = self.full_name or ""
        if not is_exported(name, export_scope):
            return None
        relative = strip_name_scope(name, export_scope)
        return variable_pb2.SaveSliceInfoDef(
            full_name=relative, full_shape=self.full_shape, var_offset=self.var_offset, var_shape=self.var_shape
        )
