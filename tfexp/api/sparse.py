"""`tf.sparse`: sparse tensors."""

from tfexp.core.namespace import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "tfexp.graph.sparse_tensor": "SparseTensor",
        "tfexp.ops.accumulator": "SparseConditionalAccumulator",
        "tfexp.ops.segment_sparse": (
            "segment_mean=sparse_segment_mean segment_sqrt_n=sparse_segment_sqrt_n segment_sum=sparse_segment_sum"
        ),
        "tfexp.ops.sparse": (
            "add=sparse_add matmul=sparse_tensor_dense_matmul sparse_dense_matmul=sparse_tensor_dense_matmul "
            "to_dense=sparse_tensor_to_dense"
        ),
        "tfexp.ops.sparse_layout": "reorder=sparse_reorder",
        "tfexp.ops.sparse_placeholder": "placeholder=sparse_placeholder",
        "tfexp.ops.sparse_reduce": "reduce_sum=sparse_reduce_sum",
    },
)
