"""`tf.keras.datasets.boston_housing`."""

from tfexp.core.gone import missing_from
from tfexp.keras.datasets.boston_housing import load_data as load_data

__getattr__ = missing_from("tf.keras.datasets.boston_housing")
