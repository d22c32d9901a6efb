"""`tf.train`: optimizers, schedules, savers, the global step, clusters. Re-exports of the modules beside this one."""

from tfexp.core.namespace import lazy_names
from tfexp.train.global_step import global_step as global_step  # at once: its module has the same name

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "tensorboard.compat.proto.cluster_pb2": "ClusterDef JobDef",
        "tensorboard.compat.proto.saver_pb2": "SaverDef",
        "tfexp.distributed.cluster": "ClusterSpec",
        "tfexp.distributed.server": "Server",
        "tfexp.formats.bundle_reader": "NewCheckpointReader=BundleReader",
        "tfexp.formats.checkpoint_state": (
            "checkpoint_exists generate_checkpoint_state_proto get_checkpoint_mtimes get_checkpoint_state "
            "latest_checkpoint remove_checkpoint update_checkpoint_state"
        ),
        "tfexp.formats.event": "summary_iterator=read_events",
        "tfexp.formats.protos.devices": "ServerDef",
        "tfexp.formats.protos.example": (
            "BytesList Example Feature FeatureList FeatureLists Features FloatList Int64List SequenceExample"
        ),
        "tfexp.formats.protos.queue_runner": "QueueRunnerDef",
        "tfexp.train.adadelta": "AdadeltaOptimizer",
        "tfexp.train.adagrad": "AdagradDAOptimizer AdagradOptimizer ProximalAdagradOptimizer",
        "tfexp.train.adam": "AdamOptimizer",
        "tfexp.train.assignment_maps": "init_from_checkpoint",
        "tfexp.train.batching": (
            "batch batch_join maybe_batch maybe_batch_join maybe_shuffle_batch maybe_shuffle_batch_join "
            "shuffle_batch shuffle_batch_join"
        ),
        "tfexp.train.checkpoint_utils": "list_variables load_checkpoint load_variable",
        "tfexp.train.coordinator": "Coordinator LooperThread",
        "tfexp.train.cosine_schedules": ("cosine_decay cosine_decay_restarts linear_cosine_decay noisy_linear_cosine_decay"),
        "tfexp.train.device_setter": "replica_device_setter",
        "tfexp.train.ftrl": "FtrlOptimizer",
        "tfexp.train.global_step": (
            "global_step assert_global_step create_global_step get_global_step get_or_create_global_step"
        ),
        "tfexp.train.gradient_descent": "GradientDescentOptimizer ProximalGradientDescentOptimizer",
        "tfexp.train.graph_io": "write_graph",
        "tfexp.train.input": (
            "input_producer limit_epochs match_filenames_once range_input_producer slice_input_producer "
            "string_input_producer"
        ),
        "tfexp.train.meta_graph": "export_meta_graph",
        "tfexp.train.momentum": "MomentumOptimizer",
        "tfexp.train.monitored_session": "MonitoredSession SingularMonitoredSession",
        "tfexp.train.monitored_training_session": "MonitoredTrainingSession",
        "tfexp.train.moving_averages": "ExponentialMovingAverage",
        "tfexp.train.optimizer": "Optimizer",
        "tfexp.train.queue_runner": "QueueRunner add_queue_runner start_queue_runners",
        "tfexp.train.rmsprop": "RMSPropOptimizer",
        "tfexp.train.saver": "Saver import_meta_graph",
        "tfexp.train.saving_hooks": "CheckpointSaverHook CheckpointSaverListener",
        "tfexp.train.scaffold": "Scaffold",
        "tfexp.train.schedules": (
            "exponential_decay inverse_time_decay natural_exp_decay piecewise_constant "
            "piecewise_constant_decay=piecewise_constant polynomial_decay"
        ),
        "tfexp.train.session_creators": "ChiefSessionCreator SessionCreator WorkerSessionCreator",
        "tfexp.train.session_hooks": "SessionRunArgs SessionRunContext SessionRunHook SessionRunValues",
        "tfexp.train.session_manager": "SessionManager",
        "tfexp.train.step_timer": "SecondOrStepTimer",
        "tfexp.train.stopping_hooks": (
            "FeedFnHook FinalOpsHook GlobalStepWaiterHook NanLossDuringTrainingError NanTensorHook StopAtStepHook"
        ),
        "tfexp.train.supervisor": "Supervisor",
        "tfexp.train.sync_replicas": "SyncReplicasOptimizer",
        "tfexp.train.training_loop": "basic_train_loop",
        "tfexp.train.watching_hooks": "LoggingTensorHook ProfilerHook StepCounterHook SummarySaverHook",
    },
    removed={
        "SummaryWriter": "tf.summary.FileWriter",
        "SummaryWriterCache": "tf.summary.FileWriterCache",
    },
)
