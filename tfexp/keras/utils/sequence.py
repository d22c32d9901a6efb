"""`tf.keras.utils.Sequence`: data as numbered batches, which several workers may take at the same time."""

from collections.abc import Iterator
from typing import Any


class Sequence:
    """A data set of `len(self)` batches; `self[i]` is the whole batch i. The base class of users' own."""

    def __getitem__(self, index: int) -> Any:
        """Batch number `index`: (inputs, targets) or (inputs, targets, sample weights)."""
        raise NotImplementedError

    def __len__(self) -> int:
        """The number of batches in an epoch."""
        raise NotImplementedError

    def on_epoch_end(self) -> None:
        """Called after each epoch; to shuffle, say."""

    def __iter__(self) -> Iterator[Any]:
        """Each batch once."""
        for index in range(len(self)):
            yield self[index]
