"""The table of stand-ins: for each private module of TensorFlow's, the places that answer for it.

A place is

    tf, tf.nn …         a public namespace
    tfexp.graph.convert one of our modules, for what TensorFlow keeps but does not publish
    ops                 the op registry, by the names of TensorFlow's generated functions (`gen_math_ops.mat_mul`)
    module:NAME=name    one attribute, under TensorFlow's name

and "is tf.logging" says that it is that very module: what programs put into it counts for both.
"""

from __future__ import annotations

from tfexp.stand_ins.places_of_data import DATA, renamed
from tfexp.stand_ins.places_of_debug import DEBUG
from tfexp.stand_ins.places_of_estimator import ESTIMATOR
from tfexp.stand_ins.places_of_framework import FRAMEWORK
from tfexp.stand_ins.places_of_keras import KERAS, published
from tfexp.stand_ins.places_of_ops import OPS
from tfexp.stand_ins.places_of_training import TRAINING


def _pools() -> str:
    """MaxPool2D, avg_pool3d and so on: their short names."""
    kinds = [(short, name, n) for short, name in (("Max", "Max"), ("Avg", "Average")) for n in (1, 2, 3)]
    classes = {f"{short}Pool{n}D": f"{name}Pooling{n}D" for short, name, n in kinds}
    functions = {f"{short.lower()}_pool{n}d": f"{name.lower()}_pooling{n}d" for short, name, n in kinds}
    return renamed("tf.layers", **classes, **functions)


_TRANSLATOR = (
    "converters.break_statements converters.continue_statements converters.return_statements core.naming "
    "pyct.anno pyct.common_transformers.anf pyct.compiler pyct.inspect_utils pyct.parser pyct.qual_names pyct.templates"
)
_OF_RAGGED = ("convert_to_int_tensor", "get_positive_axis")
_LATER_NN = ("conv2d_transpose", "conv3d_transpose", "dropout", "fractional_avg_pool", "fractional_max_pool")
_REDUCTIONS = ("sum", "prod", "max", "min", "mean", "all", "any", "logsumexp")
_COLUMNS = (
    "tfexp.feature_column.column tfexp.feature_column.numeric tfexp.feature_column.categorical tfexp.feature_column.dense "
    "tfexp.feature_column.sequence tfexp.feature_column.dense_features tfexp.feature_column.sequence_features "
    "tfexp.feature_column.sequence_model "
    + renamed("tfexp.feature_column.serialization", serialize_feature_column="serialize")
    + renamed("tfexp.feature_column.serialization", serialize_feature_columns="serialize_all")
    + renamed("tfexp.feature_column.serialization", deserialize_feature_column="deserialize")
    + renamed("tfexp.feature_column.serialization", deserialize_feature_columns="deserialize_all")
    + renamed("tf.feature_column", make_parse_example_spec_v2="make_parse_example_spec")
)
_FROM_FILE = "categorical_column_with_vocabulary_file"
_LATER_COLUMNS = (
    "tf.feature_column tfexp.stand_ins.feature_columns tfexp.stand_ins.feature_layers tfexp.feature_column.states "
    + renamed("tfexp.feature_column.states", _StateManagerImpl="LayerStates", _StateManagerImplV2="NamedStates")
    + renamed("tf.compat.v2.feature_column", categorical_column_with_vocabulary_file_v2=_FROM_FILE)
    + renamed("tf.compat.v2.feature_column", shared_embedding_columns_v2="shared_embeddings")
    + renamed("tfexp.feature_column.shared_embeddings", SharedEmbeddingColumn="SharedEmbedding")
    + renamed("tfexp.feature_column.shared_embeddings", SharedEmbeddingColumnCreator="SharedTable")
    + _COLUMNS
)


def _older_columns() -> str:
    """TensorFlow's first columns and their classes, with an underscore before: here they are the later ones."""
    functions = (
        "numeric_column bucketized_column indicator_column embedding_column crossed_column weighted_categorical_column "
        "categorical_column_with_identity categorical_column_with_hash_bucket categorical_column_with_vocabulary_list "
        f"{_FROM_FILE}"
    )
    rooms = {
        "numeric": "Numeric Bucketized",
        "categorical": (
            "IdentityCategorical HashedCategorical VocabularyListCategorical VocabularyFileCategorical WeightedCategorical "
            "Crossed"
        ),
        "dense": "Indicator Embedding SharedEmbedding",
        "sequence": "SequenceCategorical",
    }
    classes = (
        renamed(f"tfexp.feature_column.{room}", **{f"_{kind}Column": f"{kind}Column" for kind in kinds.split()})
        for room, kinds in rooms.items()
    )
    of_sequences = renamed("tfexp.stand_ins.feature_columns", _SequenceDenseColumn="SequenceDenseColumn")
    return renamed("tf.feature_column", **{f"_{name}": name for name in functions.split()}) + "".join(classes) + of_sequences


_TPU = {
    "tpu.bfloat16": "tf.tpu",
    "tpu.ops.tpu_ops": "tf.tpu ops",
    "tpu.tpu": "tf.tpu",
    "tpu.tpu_config": "tf.estimator.tpu tfexp.estimator.tpu.config",
    "tpu.tpu_estimator": "tf.estimator.tpu tfexp.estimator.tpu.config tfexp.estimator.tpu.estimator",
    "tpu.tpu_function": "tfexp.ops.cross_replica",
    "tpu.tpu_optimizer": "tf.tpu",
}

# tensorflow.python.<key>, with the places that answer, in order.
PYTHON = {
    **DATA,
    **DEBUG,
    **FRAMEWORK,
    **{f"estimator.{key}": places for key, places in ESTIMATOR.items()},
    **KERAS,
    **OPS,
    **TRAINING,
    "client.device_lib": "tfexp.runtime.device_list",
    "client.session": "tf tfexp.runtime.session tfexp.runtime.fetches tfexp.stand_ins.fetch_handlers "
    "tfexp.stand_ins.session_interface",
    "client.timeline": "tfexp.runtime.timeline",
    "autograph.core.ag_ctx": "tfexp.stand_ins.translation_status",
    # TensorFlow's translator of Python code is not here: programs that use it import, and say what they lack when they do.
    **{f"autograph.{name}": "" for name in _TRANSLATOR.split()},
    "autograph.pyct.transformer": "ast:Base=NodeTransformer",
    "compat.compat": "tf.compat tfexp.core.forward_compatibility:_FORWARD_COMPATIBILITY_HORIZON=HORIZON",
    "compat.v2_compat": "tf",
    "compiler.xla.jit": "tf.xla.experimental tf.xla.experimental:experimental_jit_scope=jit_scope",
    "compiler.xla.xla": "tf.xla.experimental",
    "feature_column.feature_column": "tf.feature_column tfexp.stand_ins.feature_columns " + _older_columns(),
    "feature_column.feature_column_lib": _LATER_COLUMNS,
    "feature_column.feature_column_v2": _LATER_COLUMNS,
    "feature_column.utils": (
        renamed("tfexp.feature_column.sequence", sequence_length_from_sparse_tensor="sequence_lengths")
        + renamed("tfexp.feature_column.categorical", assert_key_is_string="check_key")
        + renamed("tfexp.feature_column.categorical", assert_string_or_int="check_texts_or_integers")
        + renamed("tfexp.feature_column.numeric", check_default_value="check_default_value")
    ),
    "feature_column.dense_features": _COLUMNS,
    "feature_column.dense_features_v2": "tfexp.version_2.keras_layers",
    "feature_column.sequence_feature_column": "tf.feature_column " + _COLUMNS,
    "feature_column.serialization": _COLUMNS
    + renamed("tfexp.feature_column.serialization", _column_name_with_class_name="name_with_class"),
    "kernel_tests.random.util": "tfexp.stand_ins.random_tests",
    "kernel_tests.signal.test_util": "tfexp.stand_ins.signal_tests",
    "layers.base": "tfexp.layers.base tf.layers",
    "layers.convolutional": "tf.layers "
    + renamed("tf.layers", Convolution1D="Conv1D", Convolution2D="Conv2D", Convolution3D="Conv3D")
    + renamed("tf.layers", Convolution2DTranspose="Conv2DTranspose", Convolution3DTranspose="Conv3DTranspose")
    + renamed("tf.layers", SeparableConvolution1D="SeparableConv1D", SeparableConvolution2D="SeparableConv2D")
    + renamed("tf.layers", convolution1d="conv1d", convolution2d="conv2d", convolution3d="conv3d")
    + renamed("tf.layers", convolution2d_transpose="conv2d_transpose", convolution3d_transpose="conv3d_transpose")
    + renamed("tf.layers", separable_convolution2d="separable_conv2d", deconv2d="conv2d_transpose")
    + renamed("tf.layers", deconv3d="conv3d_transpose", Deconvolution2D="Conv2DTranspose", Deconv2D="Conv2DTranspose")
    + renamed("tf.layers", Deconvolution3D="Conv3DTranspose", Deconv3D="Conv3DTranspose"),
    "layers.core": "tf.layers tf.layers:FullyConnected=Dense tf.layers:fully_connected=dense",
    "layers.layers": "tf.layers",
    "layers.normalization": "tf.layers tf.layers:BatchNorm=BatchNormalization tf.layers:batch_norm=batch_normalization",
    "layers.pooling": "tf.layers " + _pools(),
    "layers.utils": "tfexp.stand_ins.layer_arguments tf.contrib.framework",
    "lib.io.file_io": "tf.gfile tfexp.formats.file_io tf.io.gfile tfexp.stand_ins.whole_files "
    + renamed("tf.gfile", FileIO="GFile", file_exists="Exists", delete_file="Remove", get_matching_files="Glob")
    + renamed("tf.gfile", create_dir="MkDir", recursive_create_dir="MakeDirs")
    + renamed(
        "tf.io.gfile",
        create_dir_v2="mkdir",
        recursive_create_dir_v2="makedirs",
        delete_file_v2="remove",
        file_exists_v2="exists",
        delete_recursively_v2="rmtree",
        get_matching_files_v2="glob",
        is_directory_v2="isdir",
        list_directory_v2="listdir",
    ),
    "lib.io.python_io": "tf.python_io",
    "lib.io.tf_record": "tf.python_io tf.io",
    "ops.accumulate_n": "tf",
    "ops.array_grad": "tfexp.stand_ins.gradient_rules",
    "ops.array_ops": "tf tf.image tf.quantization tf.linalg ops tfexp.stand_ins.array_functions "
    + renamed("tfexp.stand_ins.ragged_conversions", **{name: name for name in _OF_RAGGED})
    + renamed("tfexp.ops.array", **{name: name for name in ("shape_internal", "size_internal", "rank_internal")})
    + renamed("tf", listdiff="setdiff1d")
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
    "ops.critical_section_ops": "tf",
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
    "ops.sparse_ops": "tf tf.sparse tfexp.ops.sparse_cross ops "
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
    "ops.summary_ops_v2": "tf.contrib.summary tfexp.version_2.summary:create_file_writer_v2=create_file_writer "
    "tfexp.version_2.summary tfexp.version_2.summary_experimental",
    "ops.template": "tf tfexp.ops.template",
    "ops.tensor_array_grad": "tfexp.stand_ins.gradient_rules",
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
    "grappler.cluster": "tfexp.stand_ins.device_clusters",
    "grappler.tf_optimizer": "tfexp.stand_ins.graph_optimizer",
    "module.module": renamed("tfexp.ops.module", Module="Module", camel_to_snake="_snake_case") + "tfexp.ops.module",
    "platform.app": "tf.app",
    "platform.benchmark": "tf.test tfexp.runtime.benchmark:TensorFlowBenchmark=TensorFlowBenchmark",
    "platform.build_info": "tf.version",
    "platform.flags": "tf.flags",
    "platform.gfile": "tf.gfile",
    "platform.googletest": "tfexp.runtime.testing:TestCase=GoogleTestCase tfexp.runtime.testing:GetTempDir=get_temp_dir "
    "tf.test",
    "platform.resource_loader": "tf.resource_loader",
    "platform.self_check": "tf",
    "platform.sysconfig": "tf.sysconfig",
    "platform.test": "tf.test",
    "platform.tf_logging": "is tf.logging",
    "profiler.model_analyzer": "tf.profiler",
    "profiler.option_builder": "tf.profiler",
    "pywrap_tensorflow": "tf.train tf.errors tfexp.stand_ins.evaluated_constants tfexp.stand_ins.event_files "
    "tfexp.stand_ins.tensor_internals "
    + renamed("tfexp.stand_ins.op_definitions", TF_GetAllOpList="TF_GetAllOpList", TF_GetBuffer="TF_GetBuffer"),
    "tf2": "tfexp.graph.behavior:enabled=v2_behavior_enabled",
    "tools.freeze_graph": "tfexp.train.freeze_graph",
    "tools.inspect_checkpoint": "tfexp.train.checkpoint_utils",
    "tools.import_pb_to_tensorboard": "tfexp.graph_tools:import_to_tensorboard=to_tensorboard",
    "tools.optimize_for_inference": "tfexp.graph_tools",
    "tools.optimize_for_inference_lib": "tfexp.graph.inference_graph tf.graph_util "
    + renamed("tfexp.graph.graph_util", node_name_from_input="node_name"),
    "tools.saved_model_cli": "tfexp.saved_model_cli",
    "tools.saved_model_utils": "tfexp.train.saved_model_files",
    "tools.strip_unused": "tfexp.graph_tools",
    "tools.strip_unused_lib": "tfexp.graph.inference_graph tf.graph_util",
    **_TPU,
    "user_ops.user_ops": "ops " + renamed("tf.user_ops", my_fact="my_fact"),
}

_GRAPH_EDITOR = "edit reroute select subgraph transform util"
# tensorflow.<key>, for modules in neither `python` nor `core`.
OTHERS = {
    **{f"contrib.graph_editor.{name}": "tf.contrib.graph_editor" for name in _GRAPH_EDITOR.split()},
    **published("contrib.keras.api.keras"),
    "contrib.learn.python.learn.datasets.base": "tfexp.stand_ins.mnist tf.contrib.learn.datasets.base",
    "contrib.learn.python.learn.datasets.mnist": "tfexp.stand_ins.mnist",
    "contrib.learn.python.learn.estimators.dynamic_rnn_estimator": "tfexp.contributed.learn.dynamic_rnn",
    "contrib.learn.python.learn.estimators.metric_key": "tfexp.contributed.learn.heads.metrics",
    "contrib.learn.python.learn.estimators.rnn_common": "tfexp.contributed.learn.recurrent_parts",
    "contrib.learn.python.learn.utils.export": "tf.contrib.learn.utils.export",
    "contrib.learn.python.learn.utils.gc": "tf.contrib.learn.utils.gc",
    "contrib.lookup.lookup_ops": "tf.contrib.lookup",
    **{f"contrib.predictor.{name}": "tf.contrib.predictor" for name in ("predictor", "predictor_factories")},
    "contrib.session_bundle.constants": "tfexp.contributed.session_bundles",
    "contrib.session_bundle.exporter": "tfexp.contributed.session_bundles",
    "contrib.session_bundle.gc": "tfexp.contributed.export_versions",
    "contrib.session_bundle.manifest_pb2": "tfexp.formats.protos.session_bundle",
    "contrib.tensorboard.plugins.projector.projector_config_pb2": "tf.contrib.tensorboard.plugins.projector",
    "examples.tutorials.mnist.input_data": "tfexp.stand_ins.mnist",
    "examples.tutorials.mnist.mnist": "tfexp.stand_ins.mnist_model",
    "lite.python.convert": "tfexp.lite.converter tf.lite",
    "lite.python.interpreter": "tf.lite",
    "lite.python.lite": "tf.lite",
    "lite.python.lite_constants": "tf.lite.constants",
    "lite.python.tflite_convert": "tfexp.tflite_convert",
    "tools.compatibility.all_renames_v2": "tfexp.stand_ins.later_names",
    "tools.docs.doc_controls": "tfexp.stand_ins.doc_controls",
    "tools.graph_transforms": "tfexp.train.graph_transforms",
}

_ATTENTION = (
    "tf.contrib.seq2seq "
    + renamed("tfexp.contributed.attention", _BaseAttentionMechanism="MemoryAttention", _maybe_mask_score="masked_score")
    + renamed("tfexp.contributed.attention", _bahdanau_score="bahdanau_score", _luong_score="luong_score")
    + renamed("tfexp.contributed.attention", _prepare_memory="prepared_memory")
    + renamed("tfexp.contributed.attention_wrapper", _compute_attention="attend")
    + renamed("tfexp.contributed.monotonic_attention", _BaseMonotonicAttentionMechanism="MonotonicMemoryAttention")
    + renamed("tfexp.contributed.monotonic_attention", _monotonic_probability_fn="monotonic_probabilities")
    + "tfexp.stand_ins.rnn_cells"
)
_SERIES = "tfexp.contributed.timeseries"
# Modules within `tensorflow.contrib` whose names are not those of the library they are in.
CONTRIB = {
    "contrib.estimator.python.estimator.early_stopping": ESTIMATOR["early_stopping"],
    "contrib.framework.python.ops.audio_ops": "tf.audio ops",
    "contrib.layers.python.layers.utils": "tfexp.contributed.layer_utilities tf.contrib.layers",
    **{
        f"contrib.slim.python.slim.data.{name}": f"tfexp.contributed.slim_data.{name}"
        for name in ("data_decoder", "data_provider", "dataset", "dataset_data_provider", "parallel_reader")
    },
    "contrib.quantize.python.graph_matcher": "tfexp.contributed.quantize.patterns",
    "contrib.seq2seq.python.ops.attention_wrapper": _ATTENTION,
    "contrib.seq2seq.python.ops.decoder": "tf.contrib.seq2seq tfexp.layers.rnn_dynamic:_transpose_batch_time=transposed",
    "contrib.slim.python.slim.data.prefetch_queue": "tfexp.contributed.slim_data.prefetch_queue",
    "contrib.slim.python.slim.data.tfexample_decoder": "tfexp.contributed.slim_data.tfexample_decoder",
    **{
        f"contrib.slim.python.slim.nets.{name}": f"tf.contrib.slim.nets.{name}"
        for name in (
            *("alexnet", "inception", "inception_v1", "inception_v2", "inception_v3"),
            *("overfeat", "resnet_utils", "resnet_v1", "resnet_v2", "vgg"),
        )
    },
    "contrib.slim.python.slim.queues": "tfexp.contributed.slim_data.queues",
    **{
        f"contrib.timeseries.python.timeseries.{name}": f"{_SERIES}.{name}"
        for name in ("estimators", "feature_keys", "head", "saved_model_utils")
    },
    "contrib.timeseries.python.timeseries.ar_model": f"{_SERIES}.ar_model {_SERIES}.prediction_networks",
    "contrib.timeseries.python.timeseries.input_pipeline": f"{_SERIES}.readers {_SERIES}.windows {_SERIES}.continuing",
    "contrib.timeseries.python.timeseries.math_utils": f"{_SERIES}.input_statistics {_SERIES}.model",
    "contrib.timeseries.python.timeseries.model": f"{_SERIES}.model {_SERIES}.sequential_model",
    "contrib.timeseries.python.timeseries.model_utils": renamed(
        f"{_SERIES}.continuing", canonicalize_times_or_steps_from_output="times_to_predict"
    ),
    "contrib.timeseries.python.timeseries.state_management": f"{_SERIES}.states",
    "contrib.tpu.python.ops.tpu_ops": _TPU["tpu.ops.tpu_ops"],
    **{f"contrib.tpu.python.{key}": places for key, places in _TPU.items() if key.count(".") == 1},
}

# What `from tensorflow.python import …` has under the name of a package: a module.
SHOWN = {
    "compat": "util.compat",
    "feature_column": "feature_column.feature_column_lib",
    "layers": "layers.layers",
    "module": "module.module",
    "ops": "framework.ops",
    "profiler": "profiler.profiler",
    "saved_model": "saved_model.saved_model",
    "summary": "summary.summary",
    "user_ops": "user_ops.user_ops",
}

# tensorflow.core: messages that tensorboard does not ship are ours. By the module's last part.
MESSAGES = {
    "boosted_trees_pb2": "tfexp.formats.protos.boosted_trees",
    "checkpoint_state_pb2": "tfexp.formats.protos.checkpoint_state",
    "control_flow_pb2": "tfexp.formats.protos.control_flow",
    "cpp_shape_inference_pb2": "tfexp.formats.protos.shape_inference",
    "config_pb2": "tensorboard.compat.proto.config_pb2 tensorboard.compat.proto.rpc_options_pb2",
    "device_attributes_pb2": "tfexp.formats.protos.devices",
    "device_properties_pb2": "tfexp.formats.protos.device_properties",
    "error_codes_pb2": "tfexp.formats.protos.queue_runner:Code=Code tfexp.core.errors",
    "example_parser_configuration_pb2": "tfexp.formats.protos.example_parser",
    "example_pb2": "tfexp.formats.protos.example",
    "feature_pb2": "tfexp.formats.protos.example",
    "kernel_def_pb2": "tfexp.formats.protos.kernels",
    "named_tensor_pb2": "tfexp.formats.protos.devices",
    "op_performance_data_pb2": "tfexp.formats.protos.device_properties",
    "queue_runner_pb2": "tfexp.formats.protos.queue_runner",
    "reader_base_pb2": "tfexp.formats.protos.reader_state",
    "saved_model_pb2": "tfexp.formats.protos.saved_model",
    "saved_tensor_slice_pb2": "tfexp.formats.protos.tensor_bundle",
    "tensor_bundle_pb2": "tfexp.formats.protos.tensor_bundle",
    "tensor_slice_pb2": "tfexp.formats.protos.tensor_bundle",
    "tensorflow_server_pb2": "tfexp.formats.protos.devices tensorboard.compat.proto.cluster_pb2",
    "test_log_pb2": "tfexp.formats.protos.benchmark_log",
    "tfprof_options_pb2": "tfexp.formats.protos.profiler_options",
    "tfprof_output_pb2": "tfexp.formats.protos.profiler",
    "topology_pb2": "tfexp.formats.protos.topology",
}
