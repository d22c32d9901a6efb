"""`tf.metrics`: metrics that are updated step by step. It is loaded when first asked for."""

from tfexp.core.namespace import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "tfexp.metrics.classes": "mean_iou mean_per_class_accuracy",
        "tfexp.metrics.counts": "false_negatives false_positives precision recall true_negatives true_positives",
        "tfexp.metrics.means": (
            "accuracy mean mean_absolute_error mean_cosine_distance mean_relative_error mean_squared_error "
            "mean_tensor percentage_below root_mean_squared_error"
        ),
        "tfexp.metrics.ranking": (
            "average_precision_at_k sparse_average_precision_at_k=average_precision_at_k precision_at_k "
            "sparse_precision_at_k=precision_at_k precision_at_top_k recall_at_k recall_at_top_k"
        ),
        "tfexp.metrics.thresholds": (
            "auc false_negatives_at_thresholds false_positives_at_thresholds precision_at_thresholds "
            "recall_at_thresholds sensitivity_at_specificity specificity_at_sensitivity "
            "true_negatives_at_thresholds true_positives_at_thresholds"
        ),
    },
)
