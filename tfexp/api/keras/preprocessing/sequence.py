"""`tf.keras.preprocessing.sequence`: padding and sampling."""

from tfexp.core.gone import missing_from
from tfexp.keras.preprocessing.sequence import TimeseriesGenerator as TimeseriesGenerator
from tfexp.keras.preprocessing.sequence import make_sampling_table as make_sampling_table
from tfexp.keras.preprocessing.sequence import pad_sequences as pad_sequences
from tfexp.keras.preprocessing.sequence import skipgrams as skipgrams

__getattr__ = missing_from("tf.keras.preprocessing.sequence")
