"""What `tf.compat.v2.math` has of its own."""

from tfexp.api import math
from tfexp.version_2.arguments import with_arguments

argmax = with_arguments(math.argmax, "input, axis=None, output_type=int64, name=None")
argmin = with_arguments(math.argmin, "input, axis=None, output_type=int64, name=None")
bincount = with_arguments(math.bincount, "arr, weights=None, minlength=None, maxlength=None, dtype=int32, name=None")
confusion_matrix = with_arguments(
    math.confusion_matrix,
    "labels, predictions, num_classes=None, weights=None, dtype=int32, name=None",
)
count_nonzero = with_arguments(math.count_nonzero, "input, axis=None, keepdims=None, dtype=int64, name=None")
in_top_k = with_arguments(math.in_top_k, "targets, predictions, k, name=None")
l2_normalize = with_arguments(math.l2_normalize, "x, axis=None, epsilon=1e-12, name=None")
log_softmax = with_arguments(math.log_softmax, "logits, axis=None, name=None")
reduce_all = with_arguments(math.reduce_all, "input_tensor, axis=None, keepdims=False, name=None")
reduce_any = with_arguments(math.reduce_any, "input_tensor, axis=None, keepdims=False, name=None")
reduce_logsumexp = with_arguments(math.reduce_logsumexp, "input_tensor, axis=None, keepdims=False, name=None")
reduce_max = with_arguments(math.reduce_max, "input_tensor, axis=None, keepdims=False, name=None")
reduce_mean = with_arguments(math.reduce_mean, "input_tensor, axis=None, keepdims=False, name=None")
reduce_min = with_arguments(math.reduce_min, "input_tensor, axis=None, keepdims=False, name=None")
reduce_prod = with_arguments(math.reduce_prod, "input_tensor, axis=None, keepdims=False, name=None")
reduce_sum = with_arguments(math.reduce_sum, "input_tensor, axis=None, keepdims=False, name=None")
scalar_mul = with_arguments(math.scalar_mul, "scalar, x, name=None")
softmax = with_arguments(math.softmax, "logits, axis=None, name=None")
