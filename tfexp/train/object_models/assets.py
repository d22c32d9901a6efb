"""`tf.saved_model.Asset`: a file that belongs to a model. Source: TF 2.0 (`TrackableAsset` in 1.15)."""

from __future__ import annotations

import os
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import constant
from tfexp.ops.trackable import Trackable


class Asset(Trackable):
    """A file that `tf.saved_model.save` copies; `asset_path`, a string tensor, says where it is now."""

    def __init__(self, path: Any):
        self.path = os.fspath(path)
        self.asset_path = constant(self.path, dtype=dtypes.string, name="asset_path")
