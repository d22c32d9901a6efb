"""`tf.keras.applications.mobilenet_v2`: re-exports."""

from tfexp.core.gone import missing_from
from tfexp.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from tfexp.keras.applications.mobilenet_v2 import MobileNetV2 as MobileNetV2
from tfexp.keras.applications.mobilenet_v2 import preprocess_input as preprocess_input

__getattr__ = missing_from("tf.keras.applications.mobilenet_v2")
