"""Opening a checkpoint of either format."""

from __future__ import annotations

import os

from tfexp.formats import bundle_files
from tfexp.formats.bundle_reader import BundleReader
from tfexp.formats.checkpoint_reader import CheckpointReader
from tfexp.formats.sliced_checkpoint import SlicedReader, is_sliced_checkpoint


def open_checkpoint(filepattern: str | os.PathLike[str]) -> CheckpointReader:
    """A reader of a checkpoint. Source: `tf.train.NewCheckpointReader`.

    `filepattern`: the checkpoint's prefix; of V1 a file, or a pattern of its shards.
    NotFoundError where there is none, DataLossError where its index is damaged.
    """
    path = os.fspath(filepattern)
    if not os.path.exists(bundle_files.index_path(path)) and is_sliced_checkpoint(path):
        return SlicedReader(path)
    return BundleReader(path)
