"""The rows of the table of stand-ins (`places`) for graphs, functions, eager execution and utilities."""

from __future__ import annotations

from tfexp.stand_ins.places_of_data import renamed

_BY_RULE = "matmul conv2d depthwise_conv2d_native separable_conv2d avg_pool max_pool"
_OPTIMIZER = ("jit", "experimental_options")

_MESSAGES_OF_NEST = (
    "STRUCTURES_HAVE_MISMATCHING_LENGTHS STRUCTURES_HAVE_MISMATCHING_TYPES SHALLOW_TREE_HAS_INVALID_KEYS "
    "INPUT_TREE_SMALLER_THAN_SHALLOW_TREE IF_SHALLOW_IS_SEQ_INPUT_MUST_BE_SEQ"
)
_QUESTIONS_OF_NEST = "is_namedtuple same_namedtuples is_mapping is_mapping_view is_attrs"

# tensorflow.python.<key>, with the places that answer, in order.
FRAMEWORK = {
    "client.client_lib": "tf",
    "eager.backprop": "tf tf.contrib.eager tfexp.stand_ins.gradient_slices "
    "tfexp.stand_ins.eager_functions:make_vjp=make_vjp "
    + renamed("tf.contrib.eager", implicit_grad="implicit_gradients", implicit_val_and_grad="implicit_value_and_gradients")
    + renamed("tf.contrib.eager", val_and_grad_function="value_and_gradients_function"),
    "eager.context": "tfexp.stand_ins.context tf.config.experimental:VirtualDeviceConfiguration=VirtualDeviceConfiguration",
    "eager.cancellation": "tfexp.stand_ins.eager_execution",
    "eager.core": "tfexp.stand_ins.eager_execution",
    "eager.def_function": "tf tf.config:run_functions_eagerly=experimental_run_functions_eagerly "
    "tfexp.functions.function:Function=PolymorphicFunction",
    "eager.execute": "tfexp.stand_ins.eager_arguments tfexp.stand_ins.eager_execution",
    "eager.execution_callbacks": "tfexp.runtime.execution_callbacks",
    "eager.function": "tf tf.contrib.eager tfexp.functions.concrete "
    "tfexp.stand_ins.eager_functions:defun_with_attributes=defun_with_attributes "
    + renamed("tfexp.functions.function", Function="PolymorphicFunction"),
    "eager.executor": "tfexp.runtime.eager_executors",
    "eager.graph_only_ops": "tfexp.stand_ins.eager_arguments",
    "eager.lift_to_graph": "tfexp.stand_ins.graph_copies",
    "eager.monitoring": "tfexp.stand_ins.monitoring",
    "eager.remote": renamed("tf.config", connect_to_remote_host="experimental_connect_to_host")
    + renamed("tf.config", connect_to_cluster="experimental_connect_to_cluster"),
    "eager.tape": "tfexp.stand_ins.eager_functions tf",
    "eager.test": "tf.test",
    "eager.wrap_function": "tf tfexp.functions.wrapped tfexp.stand_ins.graph_copies",
    "framework.auto_control_deps": "tfexp.stand_ins.ordered_effects",
    "framework.combinations": "tfexp.stand_ins.test_combinations:generate=generate_for_modes "
    "tfexp.stand_ins.test_combinations",
    "framework.common_shapes": "tfexp.stand_ins.static_shapes tfexp.stand_ins.shape_functions "
    + renamed("tfexp.stand_ins.shape_functions", **{f"{kind}_shape": "by_rule" for kind in _BY_RULE.split()})
    + renamed("tfexp.ops.broadcast_shapes", broadcast_shape="broadcast_static_shape")
    + "tfexp.ops.broadcast_shapes",
    "framework.composite_tensor": renamed("tfexp.core.nest", CompositeTensor="Composite") + "tfexp.stand_ins.composites",
    "framework.composite_tensor_utils": "tfexp.stand_ins.composites",
    "framework.config": "tf.config.experimental tf.config tf.config.threading "
    + renamed("tf.config.optimizer", **{f"get_optimizer_{name}": f"get_{name}" for name in _OPTIMIZER})
    + renamed("tf.config.optimizer", **{f"set_optimizer_{name}": f"set_{name}" for name in _OPTIMIZER}),
    "framework.constant_op": "tfexp.graph.constants_v2:constant=constant tfexp.stand_ins.constants tf "
    "tf:constant_v1=constant "
    "tfexp.graph.convert:_tensor_shape_tensor_conversion_function=_from_shape",
    "framework.convert_to_constants": "tfexp.stand_ins.frozen_functions",
    "framework.cpp_shape_inference_pb2": "tfexp.formats.protos.shape_inference",
    "framework.device": "tf tfexp.core.device tfexp.stand_ins.devices",
    "framework.device_spec": "tf tf:DeviceSpecV1=DeviceSpec tf.compat.v2:DeviceSpecV2=DeviceSpec",
    "framework.dtypes": "tfexp.core.dtypes tfexp.core.ref_dtypes tf tfexp.stand_ins.framework_dtypes",
    "framework.error_interpolation": "tfexp.stand_ins.error_texts",
    "framework.errors": "tf.errors tfexp.core.errors tfexp.stand_ins.error_classes",
    "framework.errors_impl": "tf.errors tfexp.core.errors tfexp.stand_ins.error_classes",
    "framework.framework_lib": "tf",
    "framework.func_graph": "tfexp.stand_ins.function_graphs "
    + renamed("tf.nest", flatten="flatten", pack_sequence_as="pack_sequence_as"),
    "framework.function": "tfexp.ops.defun tfexp.stand_ins.functions_of_libraries "
    + renamed("tfexp.ops.defun", _DefinedFunction="DefinedFunction", _OverloadedFunction="OverloadedFunction"),
    "framework.function_def_to_graph": "tfexp.stand_ins.function_graphs tfexp.stand_ins.graph_copies",
    "framework.graph_to_function_def": "tfexp.stand_ins.graph_copies",
    "framework.graph_io": "tf.train",
    "framework.graph_util": "tf.graph_util",
    "framework.graph_util_impl": "tf.graph_util",
    "framework.importer": "tf",
    "framework.indexed_slices": "tf tfexp.runtime.fetches:IndexedSlicesValue=IndexedSlicesValue "
    "tfexp.stand_ins.framework_ops tfexp.graph.convert",
    "framework.kernels": "tfexp.stand_ins.registered_kernels",
    "framework.load_library": "tf",
    "framework.meta_graph": "tf.train tfexp.stand_ins.meta_graphs tfexp.graph.used_ops tfexp.train.meta_graph "
    + renamed("tfexp.train.meta_graph", read_meta_graph_file="read_meta_graph"),
    "framework.op_def_library": "tfexp.stand_ins.op_definitions tfexp.graph.apply",
    "framework.op_def_registry": "tfexp.stand_ins.op_definitions",
    "framework.ops": renamed("tfexp.stand_ins.constructors", Operation="Operation", EagerTensor="EagerTensor")
    + "tf tfexp.graph.scopes tfexp.graph.convert tfexp.graph.graph tfexp.graph.unpublished "
    "tfexp.graph.statistics tfexp.stand_ins.tensor_internals "
    "tfexp.stand_ins.framework_ops tfexp.stand_ins.framework_registries tfexp.stand_ins.composites "
    "tfexp.graph.gradients:get_gradient_function=gradient_function tfexp.train.meta_graph "
    "tfexp.graph.scopes:_get_graph_from_inputs=graph_of tfexp.runtime.fetches:IndexedSlicesValue=IndexedSlicesValue "
    + "tf:enable_eager_execution_internal=enable_eager_execution "
    + renamed("tfexp.graph.convert", internal_convert_n_to_tensor_or_indexed_slices="convert_n_to_tensor_or_indexed_slices"),
    "framework.random_seed": "tf tf.compat.v2.random:set_seed=set_seed tfexp.graph.random_seed",
    "framework.registry": "tfexp.stand_ins.registry",
    "framework.smart_cond": "tf.contrib.framework",
    "framework.sparse_tensor": "tf tfexp.graph.sparse_tensor tfexp.stand_ins.composite_internals",
    "framework.subscribe": "tfexp.stand_ins.subscriptions",
    "framework.tensor_conversion_registry": "tf:register_tensor_conversion_function=register_tensor_conversion_function",
    "framework.tensor_like": "tfexp.stand_ins.framework_ops",
    "framework.tensor_shape": "tf tfexp.core.shape tf:TensorShapeV1=TensorShape",
    "framework.tensor_spec": "tf tfexp.graph.bounded_tensor_spec tfexp.stand_ins.composite_internals",
    "framework.tensor_util": renamed("tf", constant_value="get_static_value")
    + renamed("tfexp.ops.random", shape_tensor="shape_tensor")
    + "tf tfexp.graph.unpublished tfexp.stand_ins.static_shapes:ShapeEquals=ShapeEquals "
    + renamed("tfexp.stand_ins.static_shapes", TensorShapeProtoToList="TensorShapeProtoToList")
    + renamed("tfexp.stand_ins.static_shapes", maybe_set_static_shape="maybe_set_static_shape"),
    "framework.test_combinations": "tfexp.stand_ins.test_combinations",
    "framework.test_ops": "tfexp.stand_ins.test_ops ops",
    "framework.test_util": "tfexp.runtime.testing_modes tfexp.runtime.testing_leaks tf.test tfexp.runtime.testing "
    "tfexp.runtime.testing_io tfexp.stand_ins.traced_tests tfexp.distributed.local_cluster",
    "framework.traceable_stack": "tfexp.stand_ins.registry",
    "framework.type_spec": "tf tfexp.graph.type_spec tfexp.graph.specs_of_values tfexp.stand_ins.composite_internals "
    + renamed("tfexp.graph.specs_of_values", _type_spec_from_value="type_spec_from_value"),
    "framework.versions": "tf "
    + renamed("tf", **{name: name for name in ("__version__", "__git_version__", "__compiler_version__")})
    + renamed("tf.sysconfig", CXX11_ABI_FLAG="CXX11_ABI_FLAG", MONOLITHIC_BUILD="MONOLITHIC_BUILD"),
    "profiler.profiler": "tf.profiler",
    "profiler.tfprof_logger": "tf.profiler",
    "training.tracking.graph_view": "tfexp.stand_ins.tracked",
    "training.tracking.layer_utils": "tfexp.stand_ins.tracked",
    "training.tracking.python_state": "tf.train.experimental",
    "util.all_util": "tfexp.stand_ins.exporting",
    "util.compat": "tf.compat collections:collections_abc=abc",
    "util.compat_internal": "tfexp.core.text",
    "util.decorator_utils": "tfexp.stand_ins.decorators tfexp.core.deprecation inspect:_normalize_docstring=cleandoc",
    "util.deprecation": "tfexp.core.deprecation",
    "util.deprecation_wrapper": renamed("tfexp.stand_ins.wrapped_modules", DeprecationWrapper="TFModuleWrapper"),
    "util.dispatch": "tfexp.core.dispatch",
    "util.example_parser_configuration": "tfexp.stand_ins.parser_configuration",
    "util.function_utils": "tfexp.stand_ins.callables",
    "util.is_in_graph_mode": "tfexp.stand_ins.context:IS_IN_GRAPH_MODE=in_graph_mode",
    "util.keyword_args": "tfexp.stand_ins.decorators",
    "util.lazy_loader": "tfexp.stand_ins.callables",
    "util.lock_util": "tfexp.stand_ins.locks",
    "util.module_wrapper": "tfexp.stand_ins.wrapped_modules",
    "util.nest": "tf.nest tfexp.core.nest tfexp.core.shallow_nest "
    + renamed("tfexp.core.shallow_nest", **{f"_{name}": name for name in _MESSAGES_OF_NEST.split()})
    + renamed("tfexp.stand_ins.structure_questions", **{f"_{name}": name for name in _QUESTIONS_OF_NEST.split()})
    + renamed("tfexp.core.nest", _sequence_like="like"),
    "util.object_identity": "tfexp.stand_ins.identity_keys tfexp.core.reference",
    "util.protobuf.compare": "tfexp.stand_ins.proto_compare",
    "util.serialization": renamed("tfexp.keras.saving.training_config", get_json_type="as_json"),
    "util.tf_contextlib": "contextlib",
    "util.tf_decorator": "tfexp.stand_ins.decorators",
    "util.tf_export": "tfexp.stand_ins.exporting",
    "util.tf_inspect": "tfexp.stand_ins.inspecting tfexp.stand_ins.inspecting:_inspect=inspect inspect",
    "util.tf_should_use": "tfexp.stand_ins.unused_results",
    "util.tf_stack": "tfexp.stand_ins.stacks",
}
