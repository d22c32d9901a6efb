"""`tf.keras.applications.resnet_v2`: re-exports."""

from tfexp.core.gone import missing_from
from tfexp.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from tfexp.keras.applications.resnet import ResNet50V2 as ResNet50V2
from tfexp.keras.applications.resnet import ResNet101V2 as ResNet101V2
from tfexp.keras.applications.resnet import ResNet152V2 as ResNet152V2
from tfexp.keras.applications.resnet import preprocess_input_v2 as preprocess_input

__getattr__ = missing_from("tf.keras.applications.resnet_v2")
