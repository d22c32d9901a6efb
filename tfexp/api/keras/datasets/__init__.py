"""`tf.keras.datasets`: small published data sets."""

from tfexp.api.keras.datasets import boston_housing as boston_housing
from tfexp.api.keras.datasets import cifar10 as cifar10
from tfexp.api.keras.datasets import cifar100 as cifar100
from tfexp.api.keras.datasets import fashion_mnist as fashion_mnist
from tfexp.api.keras.datasets import imdb as imdb
from tfexp.api.keras.datasets import mnist as mnist
from tfexp.api.keras.datasets import reuters as reuters
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.keras.datasets")
