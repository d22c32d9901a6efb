"""Intersection over union of segmentations. Source: `tf.keras.metrics.MeanIoU`, TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.keras.metrics.metric import Metric
from tfexp.ops.array import reshape
from tfexp.ops.cast import cast
from tfexp.ops.comparison import not_equal
from tfexp.ops.confusion_matrix import confusion_matrix
from tfexp.ops.diagonal import diag_part
from tfexp.ops.elementwise_division import div_no_nan
from tfexp.ops.reduce import reduce_sum


class MeanIoU(Metric):
    """true positives / (true positives + false positives + false negatives), the mean over the classes that occur.

    Labels and predictions are numbers of classes below `num_classes`.
    """

    def __init__(self, num_classes: int, name: str | None = None, dtype: Any = None):
        super().__init__(name=name, dtype=dtype)
        self.num_classes = num_classes
        self.total_cm = self.add_weight(
            "total_confusion_matrix", shape=(num_classes, num_classes), initializer="zeros", dtype=dtypes.float64
        )

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        y_true, y_pred = (reshape(cast(convert_to_tensor(y), dtypes.int64), [-1]) for y in (y_true, y_pred))
        weights = None if sample_weight is None else reshape(convert_to_tensor(sample_weight), [-1])
        found = confusion_matrix(y_true, y_pred, self.num_classes, weights=weights, dtype=dtypes.float64)
        return self.total_cm.assign_add(found)

    def result(self) -> Any:
        counts = self.total_cm.read_value()
        hits = cast(diag_part(counts), self._dtype)
        union: Any = cast(reduce_sum(counts, axis=0), self._dtype) + cast(reduce_sum(counts, axis=1), self._dtype) - hits
        occurring = reduce_sum(cast(not_equal(union, 0), self._dtype))
        return div_no_nan(reduce_sum(div_no_nan(hits, union)), occurring, name="mean_iou")

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "num_classes": self.num_classes}
