"""What can be asked of a checkpoint, whatever its format. Source: `tf.train.NewCheckpointReader`, TF 1.15."""

from __future__ import annotations

import abc
from types import TracebackType
from typing import Any, Self

from numpy.typing import NDArray
from tensorboard.compat.proto import types_pb2

from tfexp.core.dtypes import DType
from tfexp.formats.tensor_slice import TensorSlice


class CheckpointReader(abc.ABC):
    """Tensors by name. NotFoundError for a name that is not there."""

    @abc.abstractmethod
    def close(self) -> None:
        """Let go of the files."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @abc.abstractmethod
    def names(self) -> list[str]:
        """The tensors' names, sorted."""

    @abc.abstractmethod
    def has_tensor(self, name: str) -> bool:
        """Whether the checkpoint has a tensor of that name."""

    @abc.abstractmethod
    def dtype(self, name: str) -> DType:
        """The tensor's dtype."""

    @abc.abstractmethod
    def shape(self, name: str) -> tuple[int, ...]:
        """The tensor's shape."""

    @abc.abstractmethod
    def read(self, name: str, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """The tensor, put together where it is partitioned; into `out` where given (of its dtype and shape)."""

    @abc.abstractmethod
    def get_slice(self, name: str, part: TensorSlice) -> NDArray[Any]:
        """The slice `part` of a tensor, however the tensor was partitioned when it was saved."""

    def get_tensor(self, name: str) -> Any:
        """The value of a tensor: an array, or the number or bytes themselves of one without dimensions. Raises as `read`."""
        return self.read(name)[()]

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """The shape of every tensor, by name."""
        return {name: list(self.shape(name)) for name in self.names()}

    def get_variable_to_dtype_map(self) -> dict[str, DType]:
        """The dtype of every tensor, by name."""
        return {name: self.dtype(name) for name in self.names()}

    def debug_string(self) -> bytes:
        """A line for each tensor: name, dtype, shape. Bytes, which programs decode, as TensorFlow's are."""
        return "".join(
            f"{name} ({types_pb2.DataType.Name(self.dtype(name).as_datatype_enum)}) "
            f"[{','.join(map(str, self.shape(name)))}]\n"
            for name in self.names()
        ).encode()
