"""`tf.contrib.metrics`: metrics under contrib's names."""

from tfexp.contributed.metrics import aggregate_metric_map as aggregate_metric_map
from tfexp.contributed.metrics import aggregate_metrics as aggregate_metrics
from tfexp.contributed.metrics import confusion_matrix as confusion_matrix
from tfexp.contributed.metrics import streaming_accuracy as streaming_accuracy
from tfexp.contributed.metrics import streaming_auc as streaming_auc
from tfexp.contributed.metrics import streaming_false_negatives as streaming_false_negatives
from tfexp.contributed.metrics import streaming_false_positives as streaming_false_positives
from tfexp.contributed.metrics import streaming_mean as streaming_mean
from tfexp.contributed.metrics import streaming_mean_absolute_error as streaming_mean_absolute_error
from tfexp.contributed.metrics import streaming_mean_iou as streaming_mean_iou
from tfexp.contributed.metrics import streaming_mean_squared_error as streaming_mean_squared_error
from tfexp.contributed.metrics import streaming_precision as streaming_precision
from tfexp.contributed.metrics import streaming_recall as streaming_recall
from tfexp.contributed.metrics import streaming_root_mean_squared_error as streaming_root_mean_squared_error
from tfexp.contributed.metrics import streaming_true_negatives as streaming_true_negatives
from tfexp.contributed.metrics import streaming_true_positives as streaming_true_positives
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.metrics")
