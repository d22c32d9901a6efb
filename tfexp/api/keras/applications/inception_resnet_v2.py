"""`tf.keras.applications.inception_resnet_v2`: re-exports."""

from tfexp.core.gone import missing_from
from tfexp.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from tfexp.keras.applications.inception_resnet_v2 import InceptionResNetV2 as InceptionResNetV2
from tfexp.keras.applications.inception_resnet_v2 import preprocess_input as preprocess_input

__getattr__ = missing_from("tf.keras.applications.inception_resnet_v2")
