"""`tf.layers.experimental`: re-exports."""

from tfexp.core.gone import missing_from
from tfexp.layers.keras_style import keras_style_scope as keras_style_scope
from tfexp.layers.keras_style import set_keras_style as set_keras_style

__getattr__ = missing_from("tf.layers.experimental")
