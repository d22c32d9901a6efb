"""`import tfexp as tf`: TensorFlow 1.15's programming model on an embedded NumPy runtime. Re-exports, no logic."""

from tfexp import first_use as _first_use
from tfexp.core import dtypes as _core_dtypes
from tfexp.core.dtypes import *  # noqa: F403
from tfexp.core.namespace import lazy_names as _lazy_names

__getattr__, __dir__, __all__ = _lazy_names(
    __name__,
    {
        "tensorboard.compat.proto.attr_value_pb2": "AttrValue NameAttrList",
        "tensorboard.compat.proto.event_pb2": "LogMessage",
        "tensorboard.compat.proto.graph_pb2": "GraphDef",
        "tensorboard.compat.proto.histogram_pb2": "HistogramProto",
        "tensorboard.compat.proto.meta_graph_pb2": "MetaGraphDef TensorInfo",
        "tensorboard.compat.proto.node_def_pb2": "NodeDef",
        "tensorboard.compat.proto.summary_pb2": "SummaryMetadata",
        "tfexp.api.summary": "Event SessionLog Summary",
        "tfexp.core.device": "DeviceSpec",
        "tfexp.core.dtypes": "DType as_dtype",
        "tfexp.core.errors": "OpError",
        "tfexp.core.log": "get_logger",
        "tfexp.core.shape": "Dimension TensorShape dimension_at_index dimension_value",
        "tfexp.formats.tensor": "make_ndarray make_tensor_proto",
        "tfexp.graph.collections": "GraphKeys",
        "tfexp.graph.control_flow": "cond",
        "tfexp.graph.convert": (
            "IndexedSlices constant convert_to_tensor convert_to_tensor_or_indexed_slices "
            "register_tensor_conversion_function"
        ),
        "tfexp.graph.custom_gradient": (
            "NoGradient=NotDifferentiable NotDifferentiable no_gradient=NotDifferentiable RegisterGradient custom_gradient"
        ),
        "tfexp.graph.defaults": "get_default_session",
        "tfexp.graph.dependencies": "group no_op tuple",
        "tfexp.graph.gradients": "AggregationMethod UnconnectedGradients gradients",
        "tfexp.graph.graph": "Graph",
        "tfexp.graph.graphdef": "import_graph_def",
        "tfexp.graph.operation": "Operation",
        "tfexp.graph.random_seed": "get_seed set_random_seed",
        "tfexp.graph.scopes": (
            "add_to_collection add_to_collections colocate_with container control_dependencies device "
            "executing_eagerly get_collection get_collection_ref get_default_graph init_scope name_scope "
            "op_scope reset_default_graph"
        ),
        "tfexp.graph.sparse_tensor": "SparseTensor SparseTensorValue convert_to_tensor_or_sparse_tensor",
        "tfexp.graph.tape": "GradientTape",
        "tfexp.graph.tensor": "Tensor",
        "tfexp.graph.versions": (
            "COMPILER_VERSION __compiler_version__=COMPILER_VERSION GIT_VERSION __git_version__=GIT_VERSION "
            "GRAPH_DEF_VERSION GRAPH_DEF_VERSION_MIN_CONSUMER GRAPH_DEF_VERSION_MIN_PRODUCER VERSION "
            "__version__=VERSION"
        ),
        "tfexp.graph.while_loop": "while_loop",
        "tfexp.ops.accumulator": "ConditionalAccumulator ConditionalAccumulatorBase SparseConditionalAccumulator",
        "tfexp.ops.argmax": "argmax arg_max=argmax_of_dimension argmin arg_min=argmin_of_dimension",
        "tfexp.ops.array": "expand_dims rank reshape shape shape_n size squeeze",
        "tfexp.ops.array_fill": "broadcast_to fill lin_space linspace one_hot ones ones_like range zeros zeros_like",
        "tfexp.ops.array_gather": "gather gather_nd scatter_nd",
        "tfexp.ops.array_identity": "ensure_shape identity placeholder placeholder_with_default stop_gradient",
        "tfexp.ops.array_join": "concat stack unstack",
        "tfexp.ops.array_mask": "boolean_mask sequence_mask where",
        "tfexp.ops.array_order": (
            "invert_permutation matrix_transpose reverse reverse_v2=reverse reverse_sequence setdiff1d transpose"
        ),
        "tfexp.ops.array_pad": "pad",
        "tfexp.ops.array_partition": "dynamic_partition dynamic_stitch sparse_to_dense",
        "tfexp.ops.array_repeat": "batch_gather",
        "tfexp.ops.array_slice": "slice strided_slice",
        "tfexp.ops.array_split": "split",
        "tfexp.ops.array_tile": "tile",
        "tfexp.ops.array_unique": "unique unique_with_counts",
        "tfexp.ops.broadcast_shapes": "broadcast_dynamic_shape broadcast_static_shape meshgrid",
        "tfexp.ops.case": "case",
        "tfexp.ops.cast": "cast saturate_cast to_bfloat16 to_double to_float to_int32 to_int64",
        "tfexp.ops.check": "Assert Print add_check_numerics_ops check_numerics verify_tensor_all_finite",
        "tfexp.ops.check_compare": (
            "assert_equal assert_greater assert_greater_equal assert_integer assert_less assert_less_equal "
            "assert_negative assert_non_negative assert_non_positive assert_positive assert_rank "
            "assert_rank_at_least assert_scalar"
        ),
        "tfexp.ops.check_types": "is_tensor",
        "tfexp.ops.clip": "clip_by_average_norm clip_by_global_norm clip_by_norm clip_by_value global_norm",
        "tfexp.ops.comparison": "equal greater greater_equal less less_equal not_equal",
        "tfexp.ops.confusion_matrix": "confusion_matrix",
        "tfexp.ops.counting": "bincount histogram_fixed_width",
        "tfexp.ops.cumulative": "cumprod cumsum",
        "tfexp.ops.decode_csv": "decode_csv",
        "tfexp.ops.decode_raw": "decode_raw",
        "tfexp.ops.diagonal": "diag diag_part eye matrix_band_part matrix_diag matrix_diag_part matrix_set_diag trace",
        "tfexp.ops.eager_variables": "disable_resource_variables enable_resource_variables resource_variables_enabled",
        "tfexp.ops.elementwise_binary": (
            "accumulate_n add add_n atan2 maximum minimum multiply=mul pow scalar_mul squared_difference subtract=sub"
        ),
        "tfexp.ops.elementwise_division": "div div_no_nan divide floordiv floormod mod=floormod truediv",
        "tfexp.ops.elementwise_rounding": "ceil floor is_finite is_inf is_nan rint round",
        "tfexp.ops.elementwise_special": "digamma erf erfc lgamma",
        "tfexp.ops.elementwise_trig": "acos asin atan cos cosh sin sinh tan",
        "tfexp.ops.elementwise_unary": (
            "abs exp expm1 log log1p log_sigmoid negative=neg reciprocal rsqrt sigmoid sign sqrt square tanh"
        ),
        "tfexp.ops.files": "matching_files read_file write_file",
        "tfexp.ops.functional": "foldl foldr map_fn scan",
        "tfexp.ops.hessians": "hessians",
        "tfexp.ops.initializers": (
            "constant_initializer glorot_normal_initializer glorot_uniform_initializer ones_initializer "
            "random_normal_initializer random_uniform_initializer truncated_normal_initializer "
            "uniform_unit_scaling_initializer variance_scaling_initializer zeros_initializer"
        ),
        "tfexp.ops.linalg": "cholesky matrix_determinant matrix_inverse matrix_solve matrix_triangular_solve",
        "tfexp.ops.logical": "logical_and logical_not logical_or logical_xor",
        "tfexp.ops.matmul": "matmul",
        "tfexp.ops.matrix_initializers": "orthogonal_initializer",
        "tfexp.ops.norm": "norm",
        "tfexp.ops.parsing": (
            "FixedLenFeature FixedLenSequenceFeature SparseFeature VarLenFeature parse_example parse_single_example"
        ),
        "tfexp.ops.partitioned_variables": (
            "create_partitioned_variables fixed_size_partitioner min_max_variable_partitioner variable_axis_size_partitioner"
        ),
        "tfexp.ops.py_func": "py_func",
        "tfexp.ops.queue": "FIFOQueue PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue",
        "tfexp.ops.random": "multinomial random_normal random_shuffle random_uniform truncated_normal",
        "tfexp.ops.random_crop": "random_crop",
        "tfexp.ops.random_gamma": "random_gamma random_poisson",
        "tfexp.ops.readers": (
            "FixedLengthRecordReader IdentityReader ReaderBase TextLineReader TFRecordReader WholeFileReader"
        ),
        "tfexp.ops.reduce": "reduce_all reduce_any reduce_max reduce_mean reduce_min reduce_prod reduce_sum",
        "tfexp.ops.reduce_composite": "count_nonzero reduce_logsumexp",
        "tfexp.ops.scatter": (
            "scatter_add scatter_div scatter_max scatter_min scatter_mul scatter_nd_add scatter_nd_sub "
            "scatter_nd_update scatter_sub scatter_update"
        ),
        "tfexp.ops.segment": (
            "segment_max segment_mean segment_min segment_prod segment_sum unsorted_segment_max "
            "unsorted_segment_min unsorted_segment_prod unsorted_segment_sum"
        ),
        "tfexp.ops.segment_gradients": "unsorted_segment_mean unsorted_segment_sqrt_n",
        "tfexp.ops.segment_sparse": "sparse_segment_mean sparse_segment_sqrt_n sparse_segment_sum",
        "tfexp.ops.slicing": "newaxis",
        "tfexp.ops.sort": "argsort",
        "tfexp.ops.sparse": "sparse_add sparse_tensor_dense_matmul sparse_tensor_to_dense",
        "tfexp.ops.sparse_layout": "sparse_reorder",
        "tfexp.ops.sparse_placeholder": "sparse_placeholder",
        "tfexp.ops.sparse_reduce": "sparse_reduce_sum",
        "tfexp.ops.state": "assign assign_add assign_sub count_up_to is_variable_initialized",
        "tfexp.ops.string_hash": "string_to_hash_bucket_fast",
        "tfexp.ops.string_regex": "regex_replace",
        "tfexp.ops.string_split": "string_split",
        "tfexp.ops.string_text": "string_strip substr",
        "tfexp.ops.strings": "as_string string_join string_to_number",
        "tfexp.ops.tensor_array": "TensorArray",
        "tfexp.ops.tensor_products": "einsum tensordot",
        "tfexp.ops.uninitialized": "assert_variables_initialized report_uninitialized_variables",
        "tfexp.ops.variable_base": "Variable",
        "tfexp.ops.variable_lists": (
            "all_variables global_variables global_variables_initializer initialize_all_tables "
            "initialize_all_variables initialize_local_variables initialize_variables local_variables "
            "local_variables_initializer model_variables moving_average_variables tables_initializer "
            "trainable_variables variables_initializer"
        ),
        "tfexp.ops.variable_scope": (
            "AUTO_REUSE VariableScope get_local_variable get_variable get_variable_scope variable_op_scope variable_scope"
        ),
        "tfexp.runtime.eager": "enable_eager_execution",
        "tfexp.runtime.protos": "ConfigProto GPUOptions GraphOptions OptimizerOptions RunMetadata RunOptions",
        "tfexp.runtime.session": "InteractiveSession Session",
    },
    modules={
        "tfexp": "data layers metrics train",
        "tfexp.api": (
            "app compat contrib debugging dtypes errors flags gfile graph_util image initializers io linalg "
            "logging losses math nest nn python_io random raw_ops saved_model sparse strings summary test "
            "version"
        ),
    },
    removed={
        "audio_summary": "tf.summary.audio",
        "batch_matmul": "tf.matmul",
        "complex_abs": "tf.abs",
        "histogram_summary": "tf.summary.histogram",
        "image_summary": "tf.summary.image",
        "inv": "tf.reciprocal",
        "listdiff": "tf.setdiff1d",
        "merge_all_summaries": "tf.summary.merge_all",
        "merge_summary": "tf.summary.merge",
        "mul": "tf.multiply",
        "neg": "tf.negative",
        "pack": "tf.stack",
        "scalar_summary": "tf.summary.scalar",
        "select": "tf.where",
        "sub": "tf.subtract",
        "unpack": "tf.unstack",
    },
)
__all__ += _core_dtypes.__all__
