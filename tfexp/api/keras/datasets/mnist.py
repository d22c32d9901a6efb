"""`tf.keras.datasets.mnist`."""

from tfexp.core.gone import missing_from
from tfexp.keras.datasets.mnist import load_data as load_data

__getattr__ = missing_from("tf.keras.datasets.mnist")
