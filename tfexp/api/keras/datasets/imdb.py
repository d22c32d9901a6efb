"""`tf.keras.datasets.imdb`."""

from tfexp.core.gone import missing_from
from tfexp.keras.datasets.imdb import get_word_index as get_word_index
from tfexp.keras.datasets.imdb import load_data as load_data

__getattr__ = missing_from("tf.keras.datasets.imdb")
