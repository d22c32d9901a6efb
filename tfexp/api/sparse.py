"""`tf.sparse`: sparse tensors."""

from typing import TYPE_CHECKING

from tfexp.core.gone import namespace

if TYPE_CHECKING:
    from tfexp.graph.sparse_tensor import SparseTensor as SparseTensor
    from tfexp.ops.accumulator import SparseConditionalAccumulator as SparseConditionalAccumulator
    from tfexp.ops.segment_sparse import sparse_segment_mean as segment_mean
    from tfexp.ops.segment_sparse import sparse_segment_sqrt_n as segment_sqrt_n
    from tfexp.ops.segment_sparse import sparse_segment_sum as segment_sum
    from tfexp.ops.sparse import from_dense as from_dense
    from tfexp.ops.sparse import sparse_add as add
    from tfexp.ops.sparse import sparse_concat as concat
    from tfexp.ops.sparse import sparse_fill_empty_rows as fill_empty_rows
    from tfexp.ops.sparse import sparse_mask as mask
    from tfexp.ops.sparse import sparse_reshape as reshape
    from tfexp.ops.sparse import sparse_retain as retain
    from tfexp.ops.sparse import sparse_slice as slice
    from tfexp.ops.sparse import sparse_tensor_dense_matmul as matmul
    from tfexp.ops.sparse import sparse_tensor_dense_matmul as sparse_dense_matmul
    from tfexp.ops.sparse import sparse_tensor_to_dense as to_dense
    from tfexp.ops.sparse import sparse_transpose as transpose
    from tfexp.ops.sparse_cross import sparse_cross as cross
    from tfexp.ops.sparse_cross import sparse_cross_hashed as cross_hashed
    from tfexp.ops.sparse_elementwise import sparse_maximum as maximum
    from tfexp.ops.sparse_elementwise import sparse_minimum as minimum
    from tfexp.ops.sparse_layout import sparse_reorder as reorder
    from tfexp.ops.sparse_placeholder import sparse_placeholder as placeholder
    from tfexp.ops.sparse_reduce import sparse_reduce_max as reduce_max
    from tfexp.ops.sparse_reduce import sparse_reduce_max_sparse as reduce_max_sparse
    from tfexp.ops.sparse_reduce import sparse_reduce_sum as reduce_sum
    from tfexp.ops.sparse_reduce import sparse_reduce_sum_sparse as reduce_sum_sparse
    from tfexp.ops.sparse_reduce import sparse_softmax as softmax
    from tfexp.ops.sparse_split import sparse_split as split
    from tfexp.ops.sparse_values import eye as eye
    from tfexp.ops.sparse_values import sparse_expand_dims as expand_dims
    from tfexp.ops.sparse_values import sparse_merge as merge
    from tfexp.ops.sparse_values import sparse_reset_shape as reset_shape
    from tfexp.ops.sparse_values import sparse_to_indicator as to_indicator

__getattr__, __dir__ = namespace("tf.sparse", __name__)
