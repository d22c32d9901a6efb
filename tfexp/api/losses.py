"""`tf.losses`: losses with weights and reductions, which join the graph's collection."""

from tfexp.core.namespace import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "tfexp.ops.losses": (
            "Reduction absolute_difference add_loss compute_weighted_loss cosine_distance get_losses "
            "get_regularization_loss get_regularization_losses get_total_loss hinge_loss huber_loss log_loss "
            "mean_pairwise_squared_error mean_squared_error sigmoid_cross_entropy softmax_cross_entropy "
            "sparse_softmax_cross_entropy"
        ),
    },
)
