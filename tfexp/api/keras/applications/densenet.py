"""`tf.keras.applications.densenet`: re-exports."""

from tfexp.core.gone import missing_from
from tfexp.keras.applications.densenet import DenseNet121 as DenseNet121
from tfexp.keras.applications.densenet import DenseNet169 as DenseNet169
from tfexp.keras.applications.densenet import DenseNet201 as DenseNet201
from tfexp.keras.applications.densenet import preprocess_input as preprocess_input
from tfexp.keras.applications.imagenet_utils import decode_predictions as decode_predictions

__getattr__ = missing_from("tf.keras.applications.densenet")
