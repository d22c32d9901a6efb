"""`tf.sparse`: re-exports."""

from tfexp.core.gone import missing_from
from tfexp.graph.sparse_tensor import SparseTensor as SparseTensor
from tfexp.ops.sparse import from_dense as from_dense
from tfexp.ops.sparse import sparse_add as add
from tfexp.ops.sparse import sparse_concat as concat
from tfexp.ops.sparse import sparse_fill_empty_rows as fill_empty_rows
from tfexp.ops.sparse import sparse_mask as mask
from tfexp.ops.sparse import sparse_reduce_sum as reduce_sum
from tfexp.ops.sparse import sparse_reshape as reshape
from tfexp.ops.sparse import sparse_retain as retain
from tfexp.ops.sparse import sparse_slice as slice
from tfexp.ops.sparse import sparse_tensor_dense_matmul as sparse_dense_matmul
from tfexp.ops.sparse import sparse_tensor_to_dense as to_dense
from tfexp.ops.sparse import sparse_transpose as transpose
from tfexp.ops.sparse_layout import sparse_reorder as reorder
from tfexp.ops.sparse_placeholder import sparse_placeholder as placeholder

__getattr__ = missing_from("tf.sparse")
