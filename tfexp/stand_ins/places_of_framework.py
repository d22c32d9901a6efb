"""The rows of the table of stand-ins (`places`) for what graphs, functions and objects are made of."""

from __future__ import annotations

from tfexp.stand_ins.places_of_data import renamed

_OPTIMIZER = ("jit", "experimental_options")

# tensorflow.python.<key>, with the places that answer, in order.
FRAMEWORK = {
    "autograph.impl.api": "tf.autograph tf.autograph.experimental",
    "autograph.lang.directives": "tf.autograph.experimental",
    "autograph.operators.control_flow": "",
    "autograph.utils.ag_logging": "tf.autograph tf.logging",
    "client.client_lib": "tf",
    "eager.core": "",
    "eager.execute": "tfexp.stand_ins.eager_arguments",
    "eager.graph_only_ops": "tfexp.stand_ins.eager_arguments",
    "eager.monitoring": "tfexp.stand_ins.monitoring",
    "framework.auto_control_deps": "tfexp.stand_ins.ordered_effects",
    "framework.config": "tf.config.experimental tf.config tf.config.threading "
    + renamed("tf.config.threading", get_intra_op_parallelism_threads="get_intra_op_parallelism_threads")
    + renamed("tf.config.optimizer", **{f"get_optimizer_{name}": f"get_{name}" for name in _OPTIMIZER})
    + renamed("tf.config.optimizer", **{f"set_optimizer_{name}": f"set_{name}" for name in _OPTIMIZER}),
    "framework.func_graph": "tfexp.stand_ins.function_graphs "
    + renamed("tf.nest", flatten="flatten", pack_sequence_as="pack_sequence_as"),
    "framework.function_def_to_graph": "tfexp.stand_ins.function_graphs",
    "framework.subscribe": "tfexp.stand_ins.subscriptions",
    "framework.tensor_conversion_registry": "tf:register_tensor_conversion_function=register_tensor_conversion_function",
    "framework.tensor_like": "tfexp.stand_ins.framework_ops",
    "profiler.profiler": "tf.profiler",
    "profiler.tfprof_logger": "tf.profiler",
    "framework.constant_op": (
        "tf tf:constant_v1=constant tfexp.graph.convert:_tensor_shape_tensor_conversion_function=_from_shape"
    ),
    "training.tracking.graph_view": "tfexp.stand_ins.tracked",
    "training.tracking.layer_utils": "tfexp.stand_ins.tracked",
    "training.tracking.python_state": "tf.train.experimental",
    "util.compat_internal": "tfexp.core.text",
    "util.decorator_utils": "tfexp.stand_ins.decorators",
    "util.dispatch": "tfexp.core.dispatch",
    "util.is_in_graph_mode": "tfexp.stand_ins.context:IS_IN_GRAPH_MODE=in_graph_mode",
    "util.keyword_args": "tfexp.stand_ins.decorators",
    "util.lock_util": "tfexp.stand_ins.locks",
    "util.serialization": renamed("tfexp.keras.saving.training_config", get_json_type="as_json"),
    "util.tf_should_use": "tfexp.stand_ins.decorators",
    "util.tf_stack": "tfexp.stand_ins.stacks",
}
