"""`tf.keras.datasets.cifar100`."""

from tfexp.core.gone import missing_from
from tfexp.keras.datasets.cifar100 import load_data as load_data

__getattr__ = missing_from("tf.keras.datasets.cifar100")
