"""The rows of the table of stand-ins (`places`) for the modules of `tensorflow.python.ops`."""

from __future__ import annotations

from tfexp.stand_ins.places_of_data import renamed

_OF_RAGGED = ("convert_to_int_tensor", "get_positive_axis")
_LATER_NN = ("conv2d_transpose", "conv3d_transpose", "dropout", "fractional_avg_pool", "fractional_max_pool")
_REDUCTIONS = ("sum", "prod", "max", "min", "mean", "all", "any", "logsumexp")

# tensorflow.python.<key>, with the places that answer, in order.
OPS = {
    "ops.accumulate_n": "tf",
    "ops.array_grad": "tfexp.stand_ins.gradient_rules",
    "ops.array_ops": "tf tf.image tf.quantization tf.linalg ops tfexp.stand_ins.array_functions "
    + renamed("tfexp.stand_ins.ragged_conversions", **{name: name for name in _OF_RAGGED})
    + renamed("tfexp.ops.array", **{name: name for name in ("shape_internal", "size_internal", "rank_internal")})
    + renamed("tf", listdiff="setdiff1d")
    + renamed("tfexp.ops.slicing", _SLICE_TYPE_ERROR="SLICE_TYPE_ERROR")
    # Ops are called so as well.
    + renamed("tf.compat.v2", gather_v2="gather", pad_v2="pad")
    + renamed("tf.compat.v2.nn", depth_to_space_v2="depth_to_space", space_to_depth_v2="space_to_depth")
    + renamed("tf.compat.v2.image", extract_image_patches_v2="extract_patches"),
    "ops.batch_ops": "ops tf:batch_function=nondifferentiable_batch_function",
    "ops.bincount_ops": "tf tf.math",
    "ops.bitwise_ops": "tf.bitwise ops",
    "ops.candidate_sampling_ops": "tf.nn ops",
    "ops.check_ops": "tf tf.debugging",
    "ops.clip_ops": "tf",
    "ops.cond": "tf",
    "ops.boosted_trees_ops": "tfexp.ops.tree_ensemble ops",
    "ops.clustering_ops": "tfexp.estimator.canned.kmeans_graph tfexp.ops.clustering ops",
    "ops.cond_v2": "tfexp.stand_ins.functional_control_flow tf",
    "ops.confusion_matrix": "tf.compat.v2.math:confusion_matrix=confusion_matrix "
    "tf tfexp.ops.losses:remove_squeezable_dimensions=without_last_ones",
    "ops.control_flow_assert": "tf",
    "ops.control_flow_case": "tf",
    "ops.control_flow_grad": "tfexp.stand_ins.gradient_rules",
    "ops.control_flow_state": "tf",
    "ops.control_flow_ops": "tf tfexp.graph.unpublished tfexp.graph.control_flow tfexp.graph.while_context ops "
    + renamed("tfexp.graph.control_flow", _SwitchRefOrTensor="switch_ref_or_tensor")
    + renamed("tfexp.graph.dependencies", _GroupControlDeps="_group_on_device")
    + renamed("tfexp.graph.unpublished", _Enter="enter", _NextIteration="next_iteration", _Identity="identity_of")
    + renamed("tfexp.ops.case", _case_helper="case_by")
    + renamed("tf", cond_for_tf_v2="cond"),
    "ops.control_flow_util": "tfexp.graph.unpublished tfexp.stand_ins.graph_questions",
    "ops.control_flow_util_v2": "tfexp.stand_ins.functional_control_flow",
    "ops.control_flow_v2_func_graphs": "tfexp.stand_ins.functional_control_flow",
    "ops.control_flow_v2_toggles": "tf",
    "ops.critical_section_ops": "tf tfexp.ops.critical_section",
    "ops.cudnn_rnn_grad": "tf",
    "ops.ctc_ops": "tf.nn ops "
    + renamed("tf.nn", ctc_loss_dense="ctc_loss_v2")
    + renamed("tfexp.ops.ctc", dense_labels_to_sparse="dense_labels_to_sparse"),
    "ops.custom_gradient": "tf tfexp.stand_ins.gradient_questions",
    "ops.data_flow_grad": "tfexp.stand_ins.gradient_rules",
    "ops.data_flow_ops": "tf tf.queue tf.queue:GPUCompatibleFIFOQueue=FIFOQueue tfexp.ops.barrier:Barrier=Barrier "
    "tfexp.ops.staging tfexp.stand_ins.record_inputs ops",
    "ops.embedding_ops": "tf.nn tf",
    "ops.functional_ops": "tf tfexp.stand_ins.functional_nodes ops "
    + renamed("tf", foldl_v2="foldl", foldr_v2="foldr", scan_v2="scan"),
    "ops.gradient_checker": "tf.test tfexp.stand_ins.gradient_checker_steps",
    "ops.gradient_checker_v2": "tfexp.stand_ins.gradient_checker",
    "ops.gradients": "tf",
    "ops.gradients_impl": "tf tfexp.graph.gradients tfexp.ops.hessians:_hessian_vector_product=hessian_vector_product "
    + renamed("tf.compat.v2", HessiansV2="hessians"),
    "ops.gradients_util": "tf tfexp.graph.gradients tfexp.graph.gradients:IsTrainable=is_trainable",
    "ops.handle_data_util": "tf",
    "ops.histogram_ops": "tf",
    "ops.image_grad": "tfexp.stand_ins.gradient_rules",
    "ops.image_ops": "tfexp.stand_ins.image_resizing tf.image ops "
    + renamed("tf.compat.v2.image", sample_distorted_bounding_box_v2="sample_distorted_bounding_box")
    + renamed("tf.image", non_max_suppression_with_overlaps="non_max_suppression_overlaps"),
    "ops.image_ops_impl": "tfexp.stand_ins.image_resizing tf.image ops tfexp.stand_ins.array_functions "
    + renamed("tf.compat.v2.image", sample_distorted_bounding_box_v2="sample_distorted_bounding_box")
    + renamed(
        "tfexp.ops.image_metrics", _fspecial_gauss="gaussian_kernel", _verify_compatible_image_shapes="checks_of_pair"
    ),
    "ops.init_ops": "tf tf.initializers tfexp.ops.initializers tfexp.ops.matrix_initializers tfexp.ops.orthogonal_kernels "
    + renamed("tfexp.ops.initializers", _compute_fans="_fans", _assert_float_dtype="floating_dtype")
    + renamed("tf", Zeros="zeros_initializer", Ones="ones_initializer", Constant="constant_initializer")
    + renamed("tf", RandomUniform="random_uniform_initializer", RandomNormal="random_normal_initializer")
    + renamed("tf", TruncatedNormal="truncated_normal_initializer", VarianceScaling="variance_scaling_initializer")
    + renamed("tf", GlorotUniform="glorot_uniform_initializer", GlorotNormal="glorot_normal_initializer")
    + renamed("tf", Orthogonal="orthogonal_initializer")
    + renamed("tf.initializers", Identity="identity"),
    "ops.initializers_ns": "tf.initializers",
    "ops.inplace_ops": "tfexp.ops.inplace ops",
    "ops.io_ops": "tf tf.io ops",
    "ops.linalg_grad": "tfexp.stand_ins.gradient_rules",
    "ops.linalg_ops": "tf tf.linalg ops",
    "ops.linalg_ops_impl": "tf.linalg tf",
    "ops.list_ops": "tfexp.stand_ins.list_ops ops",
    "ops.logging_ops": "tf tf:print_v2=print tf.summary ops",
    "ops.lookup_grad": "tfexp.stand_ins.gradient_rules",
    "ops.lookup_ops": renamed("tfexp.ops.lookup_vocabulary", index_table_from_tensor="index_table_from_tensor")
    + renamed("tfexp.ops.lookup_vocabulary", index_to_string_table_from_tensor="index_to_string_table_from_tensor")
    + "tf.lookup tf.contrib.lookup tf tfexp.ops.lookup ops "
    + renamed("tf.lookup", StaticHashTableV1="StaticHashTable", StaticVocabularyTableV1="StaticVocabularyTable"),
    "ops.manip_grad": "tfexp.stand_ins.gradient_rules",
    "ops.manip_ops": "tf.manip tf",
    "ops.map_fn": "tf tf:map_fn_v2=map_fn",
    "ops.math_grad": "tfexp.stand_ins.gradient_rules",
    "ops.math_ops": "tf tf.math tf.linalg ops "
    + renamed("tf", **{f"reduce_{kind}_v1": f"reduce_{kind}" for kind in _REDUCTIONS})
    + renamed("tf", scalar_mul_v2="scalar_mul")
    + "tfexp.stand_ins.reductions tfexp.stand_ins.array_functions "
    "tfexp.stand_ins.composites:_as_indexed_slices=_as_indexed_slices "
    + renamed(
        "tf.compat.v2.sparse",
        sparse_segment_mean_v2="segment_mean",
        sparse_segment_sum_v2="segment_sum",
        sparse_segment_sqrt_n_v2="segment_sqrt_n",
    ),
    "ops.metrics": "tf.metrics",
    "ops.metrics_impl": "tf.metrics tfexp.stand_ins.metric_variables tfexp.metrics.streaming "
    + renamed("tfexp.metrics.streaming", _remove_squeezable_dimensions="fitted", _safe_scalar_div="ratio")
    + renamed("tfexp.metrics.classes", _streaming_confusion_matrix="streaming_confusion_matrix")
    + renamed("tfexp.metrics.thresholds", _confusion_matrix_at_thresholds="at_thresholds")
    + renamed("tfexp.metrics.ranking", _streaming_sparse_average_precision_at_top_k="average_precision_at_top_k"),
    "ops.nn": "tf.nn ops tfexp.ops.nn_sampled:_compute_sampled_logits=compute_sampled_logits",
    "ops.nn_grad": "tfexp.stand_ins.gradient_rules",
    "ops.nn_impl": "tf.nn tfexp.ops.nn_norm tfexp.ops.nn_sampled:_compute_sampled_logits=compute_sampled_logits "
    + renamed("tf.linalg", normalize="normalize"),
    "ops.nn_ops": "tf.nn tf tfexp.ops.nth_element ops "
    + renamed("tf.compat.v2.nn", **{f"{name}_v2": name for name in _LATER_NN})
    + "tfexp.ops.nn_dropout:_get_noise_shape=noise_shape_of tfexp.stand_ins.convolutions "
    + renamed("tf.nn", xw_plus_b_v1="xw_plus_b"),
    "ops.numerics": "tf " + renamed("tf.compat.v2.debugging", verify_tensor_all_finite_v2="assert_all_finite"),
    "ops.op_selector": "tfexp.contributed.graph_editor.select tfexp.graph.gradients tfexp.stand_ins.graph_questions",
    "ops.parsing_grad": "tfexp.stand_ins.gradient_rules",
    "ops.parsing_ops": "tf tf.io tf:decode_raw_v1=decode_raw ops "
    + renamed("tf.compat.v2.io", decode_csv_v2="decode_csv", parse_example_v2="parse_example"),
    "ops.partitioned_variables": "tf",
    "ops.random_grad": "tfexp.stand_ins.gradient_rules tfexp.stand_ins.array_functions",
    "ops.random_ops": "tf.compat.v2.random:random_poisson_v2=poisson tf tf.random tfexp.ops.random_truncated ops",
    "ops.proto_ops": "tf.io ops",
    "ops.ref_variable": "tf tf:VariableV1=Variable",
    "ops.resource_variable_ops": "tf tfexp.stand_ins.resource_variables tfexp.stand_ins.resource_handles "
    "tfexp.ops.resource_variables tfexp.graph.tape:variable_accessed=variable_accessed ops",
    "ops.resources": "tfexp.ops.shared_resources",
    "ops.rnn": "tf.nn tf.contrib.rnn tfexp.stand_ins.rnn_cells",
    "ops.rnn_cell": "tf.nn.rnn_cell",
    "ops.rnn_cell_impl": "tf.nn.rnn_cell tfexp.layers.rnn_cell tfexp.stand_ins.rnn_cells",
    "ops.rnn_cell_wrapper_impl": "tf.nn.rnn_cell tf.contrib.rnn",
    "ops.rnn_grad": "tfexp.stand_ins.gradient_rules",
    "ops.script_ops": "tf tfexp.stand_ins.script_functions ops tf:eager_py_func=py_function",
    "ops.session_ops": "tf tfexp.runtime.session_handles ops",
    "ops.sets": "tf.sets",
    "ops.sets_impl": "tf.sets",
    "ops.sort_ops": "tf",
    "ops.sparse_grad": "tfexp.stand_ins.gradient_rules",
    "ops.sparse_ops": "tf tf.sparse tfexp.stand_ins.sparse_maps tfexp.ops.sparse_cross ops "
    + renamed("tfexp.ops.sparse_cross", _DEFAULT_HASH_KEY="DEFAULT_HASH_KEY")
    + renamed("tfexp.ops.sparse_serial", deserialize_sparse="deserialize_sparse")
    + renamed("tf.sparse", sparse_eye="eye", sparse_expand_dims="expand_dims")
    + renamed("tf.sparse", _sparse_cross="cross", sparse_cross_hashed="cross_hashed", _sparse_cross_hashed="cross_hashed")
    + renamed("tf.compat.v2.sparse", sparse_add_v2="add", sparse_concat_v2="concat", sparse_split_v2="split")
    + renamed("tf.compat.v2.sparse", sparse_reduce_max_v2="reduce_max", sparse_reduce_sum_v2="reduce_sum")
    + renamed("tf.compat.v2.io", serialize_sparse_v2="serialize_sparse", serialize_many_sparse_v2="serialize_many_sparse"),
    "ops.special_math_ops": "tf tf.math",
    "ops.spectral_ops": "tf.spectral tf",
    "ops.spectral_ops_test_util": "tfexp.stand_ins.signal_tests",
    "ops.standard_ops": "tf",
    "ops.state_grad": "tfexp.stand_ins.gradient_rules",
    "ops.state_ops": "tf tfexp.stand_ins.variable_nodes ops",
    "ops.stateful_random_ops": "tf.random.experimental tf.random tfexp.ops.random_generator tfexp.stand_ins.random_states",
    "ops.stateless_random_ops": "tf.random "
    + renamed("tf.random", stateless_random_uniform="stateless_uniform", stateless_random_normal="stateless_normal"),
    "ops.string_ops": "tf.strings tf ops "
    + renamed("tf.strings", string_bytes_split="bytes_split", string_ngrams="ngrams")
    + renamed("tf.strings", string_to_hash_bucket_v1="to_hash_bucket", string_split_v2="split")
    + renamed("tf.strings", string_format="format", string_join="join", string_length="length", string_strip="strip")
    + renamed("tf.strings", string_lower="lower", string_upper="upper")
    + renamed("tf.compat.v2.strings", string_length_v2="length")
    + renamed("tf", substr_deprecated="substr"),
    "ops.summary_op_util": "tfexp.stand_ins.summary_collecting",
    "ops.summary_ops": "tf.summary ops",
    "ops.summary_ops_v2": "tf.contrib.summary tf.summary:all_v2_summary_ops=all_v2_summary_ops "
    "tfexp.version_2.summary:create_file_writer_v2=create_file_writer "
    "tfexp.version_2.summary tfexp.version_2.summary_experimental",
    "ops.template": "tf tfexp.ops.template",
    "ops.tensor_array_grad": "tfexp.stand_ins.gradient_rules "
    + renamed("tfexp.ops.tensor_array_gradients", _GetGradSource="_source"),
    "ops.tensor_array_ops": "tf",
    "ops.unconnected_gradients": "tf",
    "ops.user_ops": "ops",
    "ops.variable_scope": "tf tfexp.ops.variable_scope tfexp.ops.variable_store tf:variable=Variable "
    "tfexp.ops.variable_store:_PartitionInfo=PartitionInfo "
    "tfexp.stand_ins.variable_nodes",
    "ops.variables": "tf.compat.v2:Variable=Variable tf tfexp.ops.variables tfexp.ops.partitioned_variable "
    "tfexp.ops.uninitialized tfexp.stand_ins.variable_nodes "
    + renamed("tfexp.ops.variable_lists", _all_saveable_objects="all_saveable_objects")
    + renamed("tf", VariableV1="Variable", initialize_all_variables="global_variables_initializer")
    + renamed("tf", initialize_variables="variables_initializer", initialize_local_variables="local_variables_initializer"),
    "ops.weights_broadcast_ops": "tfexp.ops.weights_broadcast "
    + renamed("tfexp.ops.weights_broadcast", _ASSERT_BROADCASTABLE_ERROR_PREFIX="_MESSAGE"),
    "ops.while_loop": "tf",
    "ops.while_v2": "tfexp.stand_ins.functional_control_flow tf",
}
