"""What `tf.compat.v2.sparse` has of its own."""

from tfexp.api import sparse
from tfexp.ops.sparse_reduce import sparse_reduce_max_v2 as reduce_max
from tfexp.ops.sparse_reduce import sparse_reduce_sum_v2 as reduce_sum
from tfexp.version_2.arguments import with_arguments

add = with_arguments(sparse.add, "a, b, threshold=0")
concat = with_arguments(sparse.concat, "axis, sp_inputs, expand_nonconcat_dims=False, name=None")
segment_mean = with_arguments(sparse.segment_mean, "data, indices, segment_ids, num_segments=None, name=None")
segment_sqrt_n = with_arguments(sparse.segment_sqrt_n, "data, indices, segment_ids, num_segments=None, name=None")
segment_sum = with_arguments(sparse.segment_sum, "data, indices, segment_ids, num_segments=None, name=None")
split = with_arguments(sparse.split, "sp_input=None, num_split=None, axis=None, name=None")
