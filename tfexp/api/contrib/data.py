"""`tf.contrib.data`: what became `tf.data.experimental`."""

from tfexp.core.gone import missing_from
from tfexp.data.experimental import enumerate_dataset as enumerate_dataset
from tfexp.data.experimental import get_single_element as get_single_element
from tfexp.data.experimental import ignore_errors as ignore_errors
from tfexp.data.experimental import make_saveable_from_iterator as make_saveable_from_iterator
from tfexp.data.experimental import map_and_batch as map_and_batch
from tfexp.data.experimental import parallel_interleave as parallel_interleave
from tfexp.data.experimental import scan as scan
from tfexp.data.experimental import shuffle_and_repeat as shuffle_and_repeat
from tfexp.data.experimental import take_while as take_while
from tfexp.data.experimental import unbatch as unbatch

__getattr__ = missing_from("tf.contrib.data")
