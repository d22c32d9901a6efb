"""`RecordInput` of `tensorflow.python.ops.data_flow_ops`: batches of records of TFRecord files. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import reshape
from tfexp.ops.array_split import split
from tfexp.ops.record_input import record_input


class RecordInput:
    """Records of all files that match `file_pattern`, in random order, for ever; drawn from `buffer_size` of them.

    With `batches`, a step gives so many batches of `batch_size` records.
    """

    def __init__(
        self,
        file_pattern: str,
        batch_size: int = 1,
        buffer_size: int = 1,
        parallelism: int = 1,
        shift_ratio: float = 0,
        seed: int = 0,
        name: str | None = None,
        batches: int | None = None,
        compression_type: Any = None,
    ):
        self._batches = batches
        self._name = "RecordInput" if name is None else name
        self._size = batch_size * (1 if batches is None else batches)
        self._attrs = {
            "file_pattern": file_pattern,
            "file_random_seed": seed,
            "file_shuffle_shift_ratio": float(shift_ratio),
            "file_buffer_size": buffer_size,
            "file_parallelism": parallelism,
            "compression_type": compression_type or "",
        }

    def get_yield_op(self) -> Tensor | list[list[Tensor]]:
        """A vector of records; with `batches`, lists of scalars."""
        records: Tensor = record_input(batch_size=self._size, name=self._name, **self._attrs)
        if self._batches is None:
            return records
        with name_scope(self._name):
            singly = [reshape(record, []) for record in split(records, self._size, 0)]
        return [singly[number :: self._batches] for number in range(self._batches)]
