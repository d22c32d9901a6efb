"""The rows of the table of stand-ins (`places`) for strategies, training, checkpoints, summaries and SavedModels."""

from __future__ import annotations

from tfexp.stand_ins.places_of_data import renamed

_STRATEGY = "tf.distribute " + renamed("tf.distribute", StrategyV1="Strategy", StrategyExtendedV1="StrategyExtended")
ALL_REDUCE = "tfexp.stand_ins.all_reduce " + renamed(
    "tfexp.stand_ins.all_reduce",
    _flatten_tensors="flattened",
    _reshape_tensors="reshaped",
    _padded_split="padded_split",
    _strip_padding="without_padding",
    _ragged_split="ragged_split",
    _split_by_task="split_by_task",
    _ring_permutations="ring_permutations",
)
_QUESTIONS = "tfexp.stand_ins.strategy_questions"
_EXPERIMENTAL = "tf.distribute.experimental "

# tensorflow.python.<key>, with the places that answer, in order.
TRAINING = {
    "distribute.all_reduce": ALL_REDUCE,
    "distribute.central_storage_strategy": _EXPERIMENTAL
    + renamed("tf.distribute.experimental", CentralStorageStrategyV1="CentralStorageStrategy"),
    "distribute.cluster_resolver": "tf.distribute.cluster_resolver",
    "distribute.cluster_resolver.cluster_resolver": "tf.distribute.cluster_resolver "
    + renamed("tf.distribute.cluster_resolver", UnionClusterResolver="UnionResolver")
    + renamed("tfexp.distribute.cluster_resolver.resolvers", format_master_url="with_layer"),
    "distribute.cluster_resolver.gce_cluster_resolver": "tf.distribute.cluster_resolver",
    "distribute.cluster_resolver.kubernetes_cluster_resolver": "tf.distribute.cluster_resolver",
    "distribute.cluster_resolver.slurm_cluster_resolver": "tf.distribute.cluster_resolver",
    "distribute.cluster_resolver.tfconfig_cluster_resolver": "tf.distribute.cluster_resolver "
    + renamed("tfexp.distribute.cluster_resolver.resolvers", format_master_url="with_layer"),
    "distribute.cluster_resolver.tpu_cluster_resolver": "tf.distribute.cluster_resolver",
    "distribute.collective_all_reduce_strategy": _EXPERIMENTAL
    + renamed("tf.distribute.experimental", CollectiveAllReduceStrategy="MultiWorkerMirroredStrategy")
    + renamed("tf.distribute.experimental", CollectiveAllReduceStrategyV1="MultiWorkerMirroredStrategy"),
    "distribute.combinations": "tfexp.stand_ins.strategy_combinations:generate=generate_for_strategies "
    "tfexp.stand_ins.strategy_combinations tfexp.stand_ins.test_combinations",
    "distribute.cross_device_ops": f"tf.distribute tf.distribute.experimental tf.contrib.distribute {_QUESTIONS} "
    + renamed("tfexp.distribute.cross_device", AllReduceCrossTowerOps="AllReduceCrossDeviceOps"),
    "distribute.cross_device_utils": "tfexp.stand_ins.cross_devices tfexp.stand_ins.packed_gradients",
    "distribute.device_util": "tfexp.stand_ins.devices",
    "distribute.distribute_config": renamed("tf.contrib.distribute", DistributeConfig="DistributeConfig"),
    "distribute.distribute_coordinator": "tfexp.distribute.coordinator "
    + renamed("tfexp.distribute.coordinator", _WorkerContext="WorkerContext"),
    "distribute.distribute_coordinator_context": "tfexp.train.worker_context",
    "distribute.distribute_lib": _STRATEGY
    + renamed(_QUESTIONS, get_update_device="get_update_device")
    + renamed("tfexp.distribute.contexts", require_replica_context="require_replica")
    + renamed("tf.distribute", StrategyExtendedV2="StrategyExtended")
    + renamed("tfexp.distribute.default_strategy", _DefaultDistributionStrategy="DefaultStrategy"),
    "distribute.distribution_strategy_context": "tf.distribute "
    + renamed("tfexp.distribute.contexts", get_cross_replica_context="get_cross_replica_context")
    + renamed(_QUESTIONS, get_strategy_and_replica_context="get_strategy_and_replica_context")
    + renamed("tf.distribute", get_distribution_strategy="get_strategy", has_distribution_strategy="has_strategy"),
    "distribute.input_lib": "tfexp.distribute.steps tfexp.distribute.input",
    "distribute.mirrored_strategy": "tf.distribute "
    + renamed("tf.distribute", MirroredStrategyV1="MirroredStrategy")
    + renamed(_QUESTIONS, all_local_devices="all_local_devices")
    + renamed("tfexp.distribute.mirrored", MirroredExtended="MirroredExtended"),
    "distribute.multi_worker_test_base": "tfexp.stand_ins.worker_tests",
    "distribute.multi_worker_util": "tfexp.stand_ins.worker_places "
    "tfexp.stand_ins.worker_places:_validate_cluster_spec=jobs_of",
    "distribute.one_device_strategy": "tf.distribute " + renamed("tf.distribute", OneDeviceStrategyV1="OneDeviceStrategy"),
    "distribute.parameter_server_strategy": _EXPERIMENTAL
    + renamed("tf.distribute.experimental", ParameterServerStrategyV1="ParameterServerStrategy"),
    "distribute.reduce_util": "tf.distribute",
    "distribute.single_loss_example": "tfexp.stand_ins.loss_examples",
    "distribute.step_fn": "tfexp.stand_ins.loss_examples",
    "distribute.strategy_test_lib": "tfexp.stand_ins.strategy_tests",
    "distribute.strategy_combinations": "tfexp.stand_ins.strategy_combinations",
    "distribute.summary_op_util": "tfexp.stand_ins.summary_collecting",
    "distribute.tpu_strategy": _EXPERIMENTAL + renamed("tf.distribute.experimental", TPUStrategyV1="TPUStrategy"),
    "distribute.values": "tfexp.distribute.values tfexp.distribute.variables tfexp.distribute.values:select_replica=select",
    "saved_model.builder": "tf.saved_model.builder tf.saved_model.builder:_SavedModelBuilder=SavedModelBuilder",
    "saved_model.builder_impl": "tf.saved_model.builder tf.saved_model.builder:_SavedModelBuilder=SavedModelBuilder "
    + renamed("tfexp.train.saved_model_builder", get_asset_filename_to_add="asset_name")
    + renamed("tfexp.stand_ins.saved_model_paths", copy_assets_to_destination_dir="copy_assets_to_destination_dir"),
    "saved_model.constants": "tf.saved_model.constants tfexp.train.saved_model_names",
    "saved_model.load": "tf.compat.v2.saved_model",
    "saved_model.loader": "tf.saved_model.loader",
    "saved_model.loader_impl": "tf.saved_model.loader tfexp.train.saved_model_loader tfexp.stand_ins.saved_model_starts",
    "saved_model.main_op": "tf.saved_model.main_op",
    "saved_model.main_op_impl": "tf.saved_model.main_op",
    "saved_model.model_utils.mode_keys": "tfexp.stand_ins.mode_keys",
    "saved_model.model_utils.export_output": "tfexp.estimator.export_outputs",
    "saved_model.model_utils.export_utils": "tfexp.stand_ins.export_utilities",
    "saved_model.nested_structure_coder": "tfexp.stand_ins.structure_coder",
    "saved_model.revived_types": "tfexp.train.object_models.revived_types",
    "saved_model.save": "tf.saved_model",
    "saved_model.saved_model": "tf.saved_model",
    "saved_model.signature_constants": "tf.saved_model.signature_constants tfexp.train.saved_model_names",
    "saved_model.signature_def_utils": "tf.saved_model.signature_def_utils",
    "saved_model.signature_def_utils_impl": "tf.saved_model.signature_def_utils tfexp.train.signatures "
    "tfexp.stand_ins.supervised_signatures",
    "saved_model.simple_save": "tf.saved_model",
    "saved_model.tag_constants": "tf.saved_model.tag_constants",
    "saved_model.utils": "tf.saved_model.utils tfexp.train.signatures",
    "saved_model.utils_impl": "tf.saved_model.utils tfexp.train.signatures tfexp.stand_ins.saved_model_paths "
    "tfexp.stand_ins.saved_model_starts "
    + renamed("tfexp.train.signatures", build_tensor_info_internal="build_tensor_info"),
    "summary.event_accumulator": "tensorboard.backend.event_processing.event_accumulator",
    "summary.plugin_asset": "tfexp.train.plugin_assets",
    "summary.summary": "tf.summary",
    "summary.summary_iterator": "tf.train",
    "summary.text_summary": "tf.summary:text_summary=text",
    "summary.writer.event_file_writer": "tfexp.train.summary_writer",
    "summary.writer.fake_summary_writer": "tfexp.stand_ins.fake_summary_writer",
    "summary.writer.writer": "tf.summary tfexp.train.summary_writer tfexp.train.plugin_assets",
    "summary.writer.writer_cache": "tf.summary tfexp.train.summary_writer",
    "training.adadelta": "tf.train",
    "training.adagrad": "tf.train",
    "training.adagrad_da": "tf.train",
    "training.adam": "tf.train",
    "training.basic_loops": "tf.train",
    "training.basic_session_run_hooks": "tf.train tfexp.stand_ins.hooks_of_several_steps",
    "training.checkpoint_management": "tf.train tfexp.formats.checkpoint_state tfexp.stand_ins.checkpoint_files "
    + renamed("tfexp.formats.checkpoint_state", update_checkpoint_state_internal="update_checkpoint_state"),
    "training.checkpoint_ops": renamed(
        "tfexp.contributed.remapped_matrices",
        _load_and_remap_matrix="load_and_remap_matrix",
        _load_and_remap_matrix_initializer="load_and_remap_matrix_initializer",
        _load_embedding_initializer="load_embedding_initializer",
    ),
    "training.checkpoint_state_pb2": "tfexp.formats.protos.checkpoint_state",
    "training.checkpoint_utils": "tf.train tfexp.train.checkpoint_watching",
    "training.checkpointable.tracking": "tf.train",
    "training.checkpointable.util": "tf.train",
    "training.coordinator": "tf.train",
    "training.device_setter": "tf.train tfexp.train.device_setter "
    + renamed("tfexp.train.device_setter", _RoundRobinStrategy="RoundRobinStrategy"),
    "training.device_util": "tfexp.stand_ins.devices",
    "training.distribute": _STRATEGY + renamed("tf.distribute", DistributionStrategy="Strategy"),
    "training.distribution_strategy_context": "tf.distribute",
    "training.evaluation": "tf.contrib.training tfexp.stand_ins.hooks_of_several_steps "
    + renamed("tfexp.train.evaluation", _StopAfterNEvalsHook="StopAfterNEvalsHook", _evaluate_once="evaluate_once")
    + renamed("tfexp.train.evaluation", _get_or_create_eval_step="get_or_create_eval_step"),
    "training.experimental.mixed_precision": "tf.train.experimental "
    + renamed("tf.train.experimental", enable_mixed_precision_graph_rewrite_v1="enable_mixed_precision_graph_rewrite")
    + renamed("tf.train.experimental", disable_mixed_precision_graph_rewrite_v1="disable_mixed_precision_graph_rewrite"),
    "training.experimental.loss_scale": "tf.train.experimental "
    + renamed("tfexp.train.loss_scale", get="as_loss_scale_or_none", _is_all_finite="all_finite"),
    "training.experimental.loss_scale_optimizer": "tf.train.experimental",
    "training.ftrl": "tf.train",
    "training.gen_training_ops": "ops",
    "training.gradient_descent": "tf.train",
    "training.input": "tf.train",
    "training.learning_rate_decay": "tf.train",
    "training.momentum": "tf.train",
    "training.monitored_session": "tf.train tfexp.stand_ins.wrapped_sessions",
    "training.moving_averages": "tf.train tfexp.train.moving_averages",
    "training.optimizer": "tf.train tfexp.train.optimizer "
    + renamed("tfexp.train.optimizer", _var_key="_key", _deduplicate_indexed_slices="once_each"),
    "training.proximal_adagrad": "tf.train",
    "training.proximal_gradient_descent": "tf.train",
    "training.py_checkpoint_reader": "tf.train",
    "training.quantize_training": "tf.train",
    "training.queue_runner": "tf.train",
    "training.queue_runner_impl": "tf.train",
    "training.rmsprop": "tf.train",
    "training.saveable_object": "tfexp.ops.saveable_object",
    "training.saver": "tf.train tfexp.stand_ins.saver_builder "
    "tfexp.train.saver tfexp.train.save_graph tfexp.formats.checkpoint_state",
    "training.saver_test_utils": "tfexp.stand_ins.saved_tables",
    "training.saving.functional_saver": "tfexp.stand_ins.functional_savers",
    "training.saving.saveable_object_util": "tfexp.stand_ins.functional_savers "
    + renamed("tfexp.train.save_graph", op_list_to_dict="values_by_key"),
    "training.saving.saveable_object": "tfexp.ops.saveable_object",
    "training.server_lib": "tf.train",
    "training.session_manager": "tf.train",
    "training.session_run_hook": "tf.train",
    "training.slot_creator": "tfexp.train.slot_creator",
    "training.summary_io": renamed("tf.summary", SummaryWriter="FileWriter", SummaryWriterCache="FileWriterCache")
    + "tf.summary tf.train",
    "training.supervisor": "tf.train",
    "training.sync_replicas_optimizer": "tf.train",
    "training.tracking.base": "tf.train tfexp.ops.trackable tfexp.stand_ins.tracked",
    "training.tracking.data_structures": "tfexp.keras.engine.trackable_structures tfexp.ops.trackable "
    + renamed("tfexp.keras.engine.trackable_structures", ListWrapper="List", TrackableDataStructure="_Structure"),
    "training.tracking.object_identity": "tfexp.stand_ins.identity_keys tfexp.core.reference",
    "training.tracking.tracking": "tf.train tfexp.ops.trackable:AutoTrackable=Trackable tfexp.stand_ins.tracked_resources",
    "training.tracking.util": "tf.train tfexp.stand_ins.tracked "
    + renamed("tf.train", CheckpointV1="Checkpoint")
    + renamed("tfexp.train.checkpoint", CheckpointLoadStatus="LoadStatus", NameBasedSaverStatus="NameBasedStatus")
    + "tfexp.train.checkpoint",
    "training.tensorboard_logging": "tfexp.stand_ins.tensorboard_logging",
    "training.training": "tf.train",
    "training.training_ops": "ops",
    "training.training_util": "tf.train tfexp.train.global_step "
    + renamed("tfexp.train.global_step", _get_or_create_global_step_read="global_step_read")
    + renamed("tfexp.train.global_step", _get_global_step_read="global_step_read")
    + renamed("tfexp.train.global_step", _increment_global_step="increment_global_step"),
    "training.warm_starting_util": "tf.train tfexp.stand_ins.warm_starting",
}
