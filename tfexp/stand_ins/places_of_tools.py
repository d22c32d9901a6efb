"""The rows of the table of stand-ins (`places`) for sessions, devices, files, programs and what has few modules."""

from __future__ import annotations

from tfexp.stand_ins.places_of_data import renamed

TPU = {
    "tpu.bfloat16": "tf.tpu",
    "tpu.ops.tpu_ops": "tf.tpu ops",
    "tpu.tpu": "tf.tpu",
    "tpu.tpu_config": "tf.estimator.tpu tfexp.estimator.tpu.config",
    "tpu.tpu_estimator": "tf.estimator.tpu tfexp.estimator.tpu.config tfexp.estimator.tpu.estimator",
    "tpu.tpu_function": "tfexp.ops.cross_replica",
    "tpu.tpu_optimizer": "tf.tpu",
}

# tensorflow.python.<key>, with the places that answer, in order.
TOOLS = {
    **TPU,
    "client.device_lib": "tfexp.runtime.device_list",
    "client.session": "tf tfexp.runtime.session tfexp.runtime.fetches tfexp.stand_ins.fetch_handlers "
    "tfexp.stand_ins.session_interface",
    "client.timeline": "tfexp.runtime.timeline",
    "compat.compat": "tf.compat tfexp.core.forward_compatibility:_FORWARD_COMPATIBILITY_HORIZON=HORIZON",
    "compat.v2_compat": "tf",
    "compiler.xla.jit": "tf.xla.experimental tf.xla.experimental:experimental_jit_scope=jit_scope",
    "compiler.xla.xla": "tf.xla.experimental",
    "kernel_tests.random.util": "tfexp.stand_ins.random_tests",
    "kernel_tests.signal.test_util": "tfexp.stand_ins.signal_tests",
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
    "grappler.cluster": "tfexp.stand_ins.device_clusters",
    "grappler.tf_optimizer": "tfexp.stand_ins.graph_optimizer",
    "module.module": renamed("tfexp.ops.module", Module="Module", camel_to_snake="_snake_case") + "tfexp.ops.module",
    "platform.control_imports": "tfexp.stand_ins.platforms",
    "platform.remote_utils": "tfexp.stand_ins.platforms",
    "platform.status_bar": "tfexp.stand_ins.platforms",
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
    "tools.module_util": "tfexp.stand_ins.platforms",
    "tools.optimize_for_inference": "tfexp.graph_tools",
    "tools.optimize_for_inference_lib": "tfexp.graph.inference_graph tf.graph_util "
    + renamed("tfexp.graph.graph_util", node_name_from_input="node_name"),
    "tools.saved_model_cli": "tfexp.saved_model_cli",
    "tools.saved_model_utils": "tfexp.train.saved_model_files",
    "tools.strip_unused": "tfexp.graph_tools",
    "tools.strip_unused_lib": "tfexp.graph.inference_graph tf.graph_util",
    "user_ops.user_ops": "ops " + renamed("tf.user_ops", my_fact="my_fact"),
}
