"""`tf.data`: where examples come from. Data sets are dataset nodes of the graph, iterators resources of the session."""

from typing import TYPE_CHECKING

from tfexp.core.gone import namespace
from tfexp.data import looping as _looping  # noqa: F401 (loops over data sets in converted functions)

if TYPE_CHECKING:
    from tfexp.data import experimental as experimental
    from tfexp.data.dataset import Dataset as Dataset
    from tfexp.data.iterator import Iterator as Iterator
    from tfexp.data.iterator import get_output_classes as get_output_classes
    from tfexp.data.iterator import get_output_shapes as get_output_shapes
    from tfexp.data.iterator import get_output_types as get_output_types
    from tfexp.data.iterator import make_initializable_iterator as make_initializable_iterator
    from tfexp.data.iterator import make_one_shot_iterator as make_one_shot_iterator
    from tfexp.data.options import Options as Options
    from tfexp.data.readers import FixedLengthRecordDataset as FixedLengthRecordDataset
    from tfexp.data.readers import TextLineDataset as TextLineDataset
    from tfexp.data.readers import TFRecordDataset as TFRecordDataset
    from tfexp.data.specs import DatasetSpec as DatasetSpec

__getattr__, __dir__ = namespace("tf.data", __name__)
