"""`tf.saved_model.utils`: tensors' descriptions in signatures."""

from tfexp.train.signatures import build_tensor_info as build_tensor_info
from tfexp.train.signatures import get_tensor_from_tensor_info as get_tensor_from_tensor_info
