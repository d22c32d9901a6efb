"""`tf.keras.applications.mobilenet`: re-exports."""

from tfexp.core.gone import missing_from
from tfexp.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from tfexp.keras.applications.mobilenet import MobileNet as MobileNet
from tfexp.keras.applications.mobilenet import preprocess_input as preprocess_input

__getattr__ = missing_from("tf.keras.applications.mobilenet")
