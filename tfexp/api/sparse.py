"""`tf.sparse`: sparse tensors."""

from tfexp.core.namespace import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "tfexp.graph.sparse_tensor": "SparseTensor",
        "tfexp.ops.accumulator": "SparseConditionalAccumulator",
        "tfexp.ops.segment_sparse": (
            "segment_mean=sparse_segment_mean segment_sqrt_n=sparse_segment_sqrt_n "
            "segment_sum=sparse_segment_sum"
        ),
        "tfexp.ops.sparse": (
            "from_dense add=sparse_add concat=sparse_concat fill_empty_rows=sparse_fill_empty_rows "
            "mask=sparse_mask reshape=sparse_reshape retain=sparse_retain slice=sparse_slice "
            "matmul=sparse_tensor_dense_matmul sparse_dense_matmul=sparse_tensor_dense_matmul "
            "to_dense=sparse_tensor_to_dense transpose=sparse_transpose"
        ),
        "tfexp.ops.sparse_elementwise": "maximum=sparse_maximum minimum=sparse_minimum",
        "tfexp.ops.sparse_layout": "reorder=sparse_reorder",
        "tfexp.ops.sparse_placeholder": "placeholder=sparse_placeholder",
        "tfexp.ops.sparse_reduce": (
            "reduce_max=sparse_reduce_max reduce_max_sparse=sparse_reduce_max_sparse "
            "reduce_sum=sparse_reduce_sum reduce_sum_sparse=sparse_reduce_sum_sparse softmax=sparse_softmax"
        ),
        "tfexp.ops.sparse_values": (
            "eye expand_dims=sparse_expand_dims merge=sparse_merge reset_shape=sparse_reset_shape "
            "to_indicator=sparse_to_indicator"
        ),
    },
)
