"""The rows of the table of stand-ins (`places`) for strategies, checkpoints by objects, and what SavedModels are made of."""

from __future__ import annotations

from tfexp.stand_ins.places_of_data import renamed

_STRATEGY = "tf.distribute " + renamed("tf.distribute", StrategyV1="Strategy", StrategyExtendedV1="StrategyExtended")
_EXPERIMENTAL = "tf.distribute.experimental "

# tensorflow.python.<key>, with the places that answer, in order.
TRAINING = {
    "distribute.central_storage_strategy": _EXPERIMENTAL
    + renamed("tf.distribute.experimental", CentralStorageStrategyV1="CentralStorageStrategy"),
    "distribute.cluster_resolver.cluster_resolver": "tf.distribute.cluster_resolver "
    + renamed("tf.distribute.cluster_resolver", UnionClusterResolver="UnionResolver"),
    "distribute.cluster_resolver.gce_cluster_resolver": "tf.distribute.cluster_resolver",
    "distribute.cluster_resolver.kubernetes_cluster_resolver": "tf.distribute.cluster_resolver",
    "distribute.cluster_resolver.slurm_cluster_resolver": "tf.distribute.cluster_resolver",
    "distribute.cluster_resolver.tfconfig_cluster_resolver": "tf.distribute.cluster_resolver",
    "distribute.cluster_resolver.tpu_cluster_resolver": "tf.distribute.cluster_resolver",
    "distribute.collective_all_reduce_strategy": _EXPERIMENTAL
    + renamed("tf.distribute.experimental", CollectiveAllReduceStrategy="MultiWorkerMirroredStrategy")
    + renamed("tf.distribute.experimental", CollectiveAllReduceStrategyV1="MultiWorkerMirroredStrategy"),
    "distribute.cross_device_ops": "tf.distribute tf.distribute.experimental",
    "distribute.device_util": "tfexp.distribute.devices:canonicalize=whole",
    "distribute.distribute_lib": _STRATEGY
    + renamed("tfexp.distribute.default_strategy", _DefaultDistributionStrategy="DefaultStrategy"),
    "distribute.distribution_strategy_context": "tf.distribute",
    "distribute.mirrored_strategy": "tf.distribute "
    + renamed("tf.distribute", MirroredStrategyV1="MirroredStrategy")
    + renamed("tfexp.distribute.mirrored", MirroredExtended="MirroredExtended"),
    "distribute.one_device_strategy": "tf.distribute " + renamed("tf.distribute", OneDeviceStrategyV1="OneDeviceStrategy"),
    "distribute.parameter_server_strategy": _EXPERIMENTAL
    + renamed("tf.distribute.experimental", ParameterServerStrategyV1="ParameterServerStrategy"),
    "distribute.reduce_util": "tf.distribute",
    "distribute.summary_op_util": "tfexp.stand_ins.summary_collecting",
    "distribute.tpu_strategy": _EXPERIMENTAL + renamed("tf.distribute.experimental", TPUStrategyV1="TPUStrategy"),
    "distribute.values": "tfexp.distribute.values tfexp.distribute.variables",
    "saved_model.model_utils.export_output": "tfexp.estimator.export_outputs",
    "summary.plugin_asset": "tfexp.train.plugin_assets",
    "training.distribute": _STRATEGY + renamed("tf.distribute", DistributionStrategy="Strategy"),
    "training.distribution_strategy_context": "tf.distribute",
}
