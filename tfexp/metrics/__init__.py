"""`tf.metrics`: metrics that are updated step by step. It is loaded when first asked for."""

from typing import TYPE_CHECKING

from tfexp.core.gone import namespace

if TYPE_CHECKING:
    from tfexp.metrics.classes import mean_iou as mean_iou
    from tfexp.metrics.classes import mean_per_class_accuracy as mean_per_class_accuracy
    from tfexp.metrics.counts import false_negatives as false_negatives
    from tfexp.metrics.counts import false_positives as false_positives
    from tfexp.metrics.counts import precision as precision
    from tfexp.metrics.counts import recall as recall
    from tfexp.metrics.counts import true_negatives as true_negatives
    from tfexp.metrics.counts import true_positives as true_positives
    from tfexp.metrics.means import accuracy as accuracy
    from tfexp.metrics.means import mean as mean
    from tfexp.metrics.means import mean_absolute_error as mean_absolute_error
    from tfexp.metrics.means import mean_cosine_distance as mean_cosine_distance
    from tfexp.metrics.means import mean_relative_error as mean_relative_error
    from tfexp.metrics.means import mean_squared_error as mean_squared_error
    from tfexp.metrics.means import mean_tensor as mean_tensor
    from tfexp.metrics.means import percentage_below as percentage_below
    from tfexp.metrics.means import root_mean_squared_error as root_mean_squared_error
    from tfexp.metrics.ranking import average_precision_at_k as average_precision_at_k
    from tfexp.metrics.ranking import average_precision_at_k as sparse_average_precision_at_k
    from tfexp.metrics.ranking import precision_at_k as precision_at_k
    from tfexp.metrics.ranking import precision_at_k as sparse_precision_at_k
    from tfexp.metrics.ranking import precision_at_top_k as precision_at_top_k
    from tfexp.metrics.ranking import recall_at_k as recall_at_k
    from tfexp.metrics.ranking import recall_at_top_k as recall_at_top_k
    from tfexp.metrics.thresholds import auc as auc
    from tfexp.metrics.thresholds import false_negatives_at_thresholds as false_negatives_at_thresholds
    from tfexp.metrics.thresholds import false_positives_at_thresholds as false_positives_at_thresholds
    from tfexp.metrics.thresholds import precision_at_thresholds as precision_at_thresholds
    from tfexp.metrics.thresholds import recall_at_thresholds as recall_at_thresholds
    from tfexp.metrics.thresholds import sensitivity_at_specificity as sensitivity_at_specificity
    from tfexp.metrics.thresholds import specificity_at_sensitivity as specificity_at_sensitivity
    from tfexp.metrics.thresholds import true_negatives_at_thresholds as true_negatives_at_thresholds
    from tfexp.metrics.thresholds import true_positives_at_thresholds as true_positives_at_thresholds

__getattr__, __dir__ = namespace("tf.metrics", __name__)
