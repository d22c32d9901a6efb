"""What serves the modules below `tensorflow.python`, `.core` and `.contrib.<name>.python`, which are no public namespaces.

TensorFlow's own tests, and many scripts, import from the modules in which its public functions are defined
(`from tensorflow.python.ops import array_ops`). tfexp is cut up differently, so each of these names stands for an ordered
list of places here: the first that has an attribute answers. A place is

    tf, tf.nn …         a public namespace
    tfexp.graph.convert one of our modules, for what TensorFlow keeps but does not publish
    ops                 the op registry, by the names of TensorFlow's generated functions (`gen_math_ops.mat_mul`)
    module:NAME=name    one attribute, under TensorFlow's name
"""

from __future__ import annotations

import functools
import importlib
import re
import types
from typing import Any

from tfexp.core.op import all_ops, find_op


def _renamed(place: str, **names: str) -> str:
    """Places for attributes of one module that have other names there: theirs=ours."""
    return "".join(f"{place}:{theirs}={ours} " for theirs, ours in names.items())


# tensorflow.python.<key>, with the places that answer, in order.
_PYTHON = {
    "client.device_lib": "tfexp.runtime.device_list",
    "client.session": "tf tfexp.runtime.session",
    "client.timeline": "tfexp.runtime.timeline",
    "data.ops.dataset_ops": "tf.data tfexp.data.dataset",
    "data.ops.iterator_ops": "tf.data tfexp.data.iterator",
    "data.ops.readers": "tf.data tf.data.experimental",
    "framework.common_shapes": "tfexp.ops.broadcast_shapes",
    "framework.constant_op": "tf",
    "framework.device": "tf tfexp.core.device",
    "framework.device_spec": "tf",
    "framework.dtypes": "tfexp.core.dtypes tfexp.core.ref_dtypes tf",
    "framework.errors": "tf.errors tfexp.core.errors",
    "framework.errors_impl": "tf.errors tfexp.core.errors",
    "framework.graph_io": "tf.train",
    "framework.graph_util": "tf.graph_util",
    "framework.graph_util_impl": "tf.graph_util",
    "framework.importer": "tf",
    "framework.indexed_slices": "tf",
    "framework.meta_graph": "tf.train tfexp.train.meta_graph",
    "framework.op_def_library": "tfexp.graph.apply",
    "framework.ops": "tf tfexp.graph.scopes tfexp.graph.convert tfexp.graph.graph tfexp.graph.unpublished "
    "tfexp.graph.gradients:get_gradient_function=gradient_function tfexp.train.meta_graph",
    "framework.random_seed": "tf tfexp.graph.random_seed",
    "framework.sparse_tensor": "tf tfexp.graph.sparse_tensor",
    "framework.tensor_shape": "tf tfexp.core.shape",
    "framework.tensor_util": "tf tfexp.graph.unpublished tfexp.graph.constant_value",
    "framework.test_ops": "ops",
    "framework.test_util": "tfexp.runtime.test_modes tf.test tfexp.runtime.testing tfexp.distributed.local_cluster",
    "framework.versions": "tf",
    "layers.base": "tfexp.layers.base tf.layers",
    "layers.convolutional": "tf.layers",
    "layers.core": "tf.layers",
    "layers.layers": "tf.layers",
    "layers.normalization": "tf.layers",
    "layers.pooling": "tf.layers",
    "lib.io.file_io": "tf.gfile tfexp.formats.file_io tf.io.gfile "
    + _renamed("tf.gfile", FileIO="GFile", file_exists="Exists", delete_file="Remove", get_matching_files="Glob")
    + _renamed("tf.gfile", create_dir="MkDir", recursive_create_dir="MakeDirs"),
    "lib.io.tf_record": "tf.python_io tf.io",
    "ops.array_grad": "tf",
    "ops.array_ops": "tf tf.image ops",
    "ops.bitwise_ops": "tf.bitwise ops",
    "ops.candidate_sampling_ops": "tf.nn ops",
    "ops.check_ops": "tf tf.debugging",
    "ops.clip_ops": "tf",
    "ops.cond": "tf",
    "ops.confusion_matrix": "tf tfexp.ops.confusion_matrix",
    "ops.control_flow_assert": "tf",
    "ops.control_flow_case": "tf",
    "ops.control_flow_ops": "tf tfexp.graph.unpublished tfexp.graph.control_flow tfexp.graph.while_context ops",
    "ops.control_flow_util": "tfexp.graph.unpublished",
    "ops.control_flow_v2_toggles": "tf",
    "ops.ctc_ops": "tf.nn ops",
    "ops.custom_gradient": "tf",
    "ops.data_flow_ops": "tf tf.queue ops",
    "ops.distributions.distributions": "tf.distributions",
    "ops.embedding_ops": "tf.nn tf",
    "ops.functional_ops": "tf ops",
    "ops.gradient_checker": "tf.test",
    "ops.gradients": "tf",
    "ops.gradients_impl": "tf",
    "ops.gradients_util": "tf tfexp.graph.gradients",
    "ops.histogram_ops": "tf",
    "ops.image_ops": "tf.image ops",
    "ops.image_ops_impl": "tf.image ops",
    "ops.init_ops": "tf tf.initializers "
    + _renamed("tf", Zeros="zeros_initializer", Ones="ones_initializer", Constant="constant_initializer")
    + _renamed("tf", RandomUniform="random_uniform_initializer", RandomNormal="random_normal_initializer")
    + _renamed("tf", TruncatedNormal="truncated_normal_initializer", VarianceScaling="variance_scaling_initializer")
    + _renamed("tf", GlorotUniform="glorot_uniform_initializer", GlorotNormal="glorot_normal_initializer")
    + _renamed("tf", Orthogonal="orthogonal_initializer")
    + _renamed("tf.initializers", Identity="identity"),
    "ops.inplace_ops": "ops",
    "ops.io_ops": "tf tf.io ops",
    "ops.linalg.linalg": "tf.linalg",
    "ops.linalg.linalg_impl": "tf.linalg",
    "ops.linalg_ops": "tf tf.linalg ops",
    "ops.list_ops": "ops",
    "ops.logging_ops": "tf tf.summary ops",
    "ops.lookup_ops": "tf.lookup tf ops",
    "ops.losses.losses": "tf.losses",
    "ops.losses.losses_impl": "tf.losses",
    "ops.losses.util": "tf.losses",
    "ops.manip_ops": "tf.manip tf",
    "ops.map_fn": "tf",
    "ops.math_grad": "tf",
    "ops.math_ops": "tf tf.math ops",
    "ops.metrics": "tf.metrics",
    "ops.metrics_impl": "tf.metrics",
    "ops.nn": "tf.nn ops",
    "ops.nn_impl": "tf.nn tfexp.ops.nn_norm",
    "ops.nn_ops": "tf.nn tf ops",
    "ops.numerics": "tf",
    "ops.parallel_for.control_flow_ops": "tf",
    "ops.parsing_ops": "tf tf.io ops",
    "ops.partitioned_variables": "tf",
    "ops.random_ops": "tf tf.random ops",
    "ops.resource_variable_ops": "tf ops",
    "ops.resources": "tf",
    "ops.rnn": "tf.nn tf.contrib.rnn",
    "ops.rnn_cell": "tf.nn.rnn_cell",
    "ops.rnn_cell_impl": "tf.nn.rnn_cell tfexp.layers.rnn_cell",
    "ops.script_ops": "tf ops",
    "ops.session_ops": "tf ops",
    "ops.sets": "tf.sets",
    "ops.sets_impl": "tf.sets",
    "ops.signal.fft_ops": "tf.signal tf.spectral tf",
    "ops.signal.signal": "tf.signal",
    "ops.sort_ops": "tf",
    "ops.sparse_ops": "tf tf.sparse ops",
    "ops.special_math_ops": "tf tf.math",
    "ops.spectral_ops": "tf.spectral tf",
    "ops.standard_ops": "tf",
    "ops.state_ops": "tf ops",
    "ops.stateless_random_ops": "tf.random",
    "ops.string_ops": "tf.strings tf ops",
    "ops.summary_ops": "tf.summary ops",
    "ops.template": "tf tfexp.ops.template",
    "ops.tensor_array_ops": "tf",
    "ops.variable_scope": "tf tfexp.ops.variable_scope tfexp.ops.variable_store",
    "ops.variables": "tf tfexp.ops.variables tfexp.ops.partitioned_variable tf:VariableV1=Variable",
    "ops.weights_broadcast_ops": "tfexp.ops.weights_broadcast",
    "ops.while_loop": "tf",
    "platform.app": "tf.app",
    "platform.benchmark": "tf.test",
    "platform.flags": "tf.flags",
    "platform.gfile": "tf.gfile",
    "platform.googletest": "tfexp.runtime.testing:TestCase=GoogleTestCase tfexp.runtime.testing:GetTempDir=get_temp_dir "
    "tf.test",
    "platform.resource_loader": "tf.resource_loader",
    "platform.sysconfig": "tf.sysconfig",
    "platform.test": "tf.test",
    "platform.tf_logging": "tf.logging",
    "profiler.model_analyzer": "tf.profiler",
    "pywrap_tensorflow": "tf.train tf.errors",
    "saved_model.builder": "tf.saved_model.builder",
    "saved_model.builder_impl": "tf.saved_model.builder",
    "saved_model.constants": "tf.saved_model.constants",
    "saved_model.loader": "tf.saved_model.loader",
    "saved_model.loader_impl": "tf.saved_model.loader tfexp.train.saved_model_loader",
    "saved_model.main_op": "tf.saved_model.main_op",
    "saved_model.signature_constants": "tf.saved_model.signature_constants",
    "saved_model.signature_def_utils": "tf.saved_model.signature_def_utils",
    "saved_model.simple_save": "tf.saved_model",
    "saved_model.tag_constants": "tf.saved_model.tag_constants",
    "saved_model.utils": "tf.saved_model.utils",
    "summary.event_accumulator": "tensorboard.backend.event_processing.event_accumulator",
    "summary.summary": "tf.summary",
    "summary.summary_iterator": "tf.train",
    "summary.writer.event_file_writer": "tfexp.train.summary_writer",
    "summary.writer.writer": "tf.summary tfexp.train.summary_writer",
    "summary.writer.writer_cache": "tf.summary tfexp.train.summary_writer",
    "tools.freeze_graph": "tfexp.train.freeze_graph",
    "tools.inspect_checkpoint": "tfexp.train.checkpoint_utils",
    "training.adadelta": "tf.train",
    "training.adagrad": "tf.train",
    "training.adagrad_da": "tf.train",
    "training.adam": "tf.train",
    "training.basic_loops": "tf.train",
    "training.basic_session_run_hooks": "tf.train",
    "training.checkpoint_management": "tf.train tfexp.formats.checkpoint_state",
    "training.checkpoint_ops": "tf.train",
    "training.checkpoint_state_pb2": "tfexp.formats.protos.checkpoint_state",
    "training.checkpoint_utils": "tf.train",
    "training.coordinator": "tf.train",
    "training.device_setter": "tf.train tfexp.train.device_setter",
    "training.ftrl": "tf.train",
    "training.gen_training_ops": "ops",
    "training.gradient_descent": "tf.train",
    "training.input": "tf.train",
    "training.learning_rate_decay": "tf.train",
    "training.momentum": "tf.train",
    "training.monitored_session": "tf.train",
    "training.moving_averages": "tf.train tfexp.train.moving_averages",
    "training.optimizer": "tf.train tfexp.train.optimizer",
    "training.proximal_adagrad": "tf.train",
    "training.proximal_gradient_descent": "tf.train",
    "training.py_checkpoint_reader": "tf.train",
    "training.queue_runner": "tf.train",
    "training.queue_runner_impl": "tf.train",
    "training.rmsprop": "tf.train",
    "training.saveable_object": "tfexp.ops.saveable_object",
    "training.saver": "tf.train tfexp.train.saver tfexp.train.save_graph tfexp.formats.checkpoint_state",
    "training.server_lib": "tf.train",
    "training.session_manager": "tf.train",
    "training.session_run_hook": "tf.train",
    "training.slot_creator": "tfexp.train.slot_creator",
    "training.summary_io": "tf.summary tf.train",
    "training.supervisor": "tf.train",
    "training.sync_replicas_optimizer": "tf.train",
    "training.training": "tf.train",
    "training.training_ops": "ops",
    "training.training_util": "tf.train tfexp.train.global_step",
    "util.compat": "tf.compat",
    "util.deprecation": "tfexp.core.deprecation",
    "util.nest": "tf.nest tfexp.core.nest tfexp.core.shallow_nest",
    "util.tf_contextlib": "contextlib",
    "util.tf_inspect": "inspect",
}

# tensorflow.core: messages that tensorboard does not ship are ours. By the module's last part.
_MESSAGES = {
    "checkpoint_state_pb2": "tfexp.formats.protos.checkpoint_state",
    "device_attributes_pb2": "tfexp.formats.protos.devices",
    "example_pb2": "tfexp.formats.protos.example",
    "feature_pb2": "tfexp.formats.protos.example",
    "queue_runner_pb2": "tfexp.formats.protos.queue_runner",
    "saved_model_pb2": "tfexp.formats.protos.saved_model",
    "tensor_bundle_pb2": "tfexp.formats.protos.tensor_bundle",
    "tensorflow_server_pb2": "tfexp.formats.protos.devices tensorboard.compat.proto.cluster_pb2",
}


class Stand(types.ModuleType):
    """The module that stands for a private module of TensorFlow's: its attributes are those of its places."""

    def __init__(self, name: str, places: str):
        super().__init__(name, f"Stands for TensorFlow's {name}; its names come from {places}.")
        self.__path__: list[str] = []
        self._places = places.split()

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__"):
            for place in self._places:
                found = _find(place, name)
                if found is not _NOTHING:
                    return found
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}: tfexp, which stands in here, lacks it")

    def __dir__(self) -> list[str]:
        names = set(super().__dir__())
        for place in self._places:
            module, _, attribute = place.partition(":")
            if place == "ops":
                names |= {generated_name(op) for op in all_ops()}
            elif attribute:
                names.add(attribute.partition("=")[0])
            else:
                names |= set(dir(_place(module)))
        return sorted(names)


_NOTHING = object()


def _find(place: str, name: str) -> Any:
    """What one place has under that name."""
    if place == "ops":
        return _generated(name)
    module, _, attribute = place.partition(":")
    if attribute:
        theirs, _, ours = attribute.partition("=")
        return getattr(_place(module), ours) if theirs == name else _NOTHING
    return getattr(_place(module), name, _NOTHING)


@functools.cache
def _place(name: str) -> Any:
    """A namespace or module; one that tfexp does not have yet is empty."""
    if name.partition(".")[0] != "tf":
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{name}.".startswith(f"{error.name}."):
                raise
            return types.ModuleType(name)
    found = importlib.import_module("tfexp")
    for part in name.split(".")[1:]:
        found = getattr(found, part, types.ModuleType(name))
    return found


# --- the generated functions -------------------------------------------------------------------------------------------


def generated_name(op: str) -> str:
    """What TensorFlow calls the generated function of an op: `MatMul` is `mat_mul`, `FIFOQueueV2` `fifo_queue_v2`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=\d)(?=[A-Z][a-z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", op).lower()


@functools.cache
def _op_names() -> dict[str, str]:
    """{generated name: op}. Names that Python or TensorFlow's own modules use have an underscore before them as well."""
    names = {generated_name(op): op for op in all_ops() if not op.startswith("_")}
    return {**{f"_{name}": op for name, op in names.items()}, **names}


def _generated(name: str) -> Any:
    op = find_op(_op_names().get(name, name))
    return _NOTHING if op is None else op


# --- the whole -----------------------------------------------------------------------------------------------------------


@functools.cache
def stand_for(fullname: str) -> types.ModuleType | None:
    """What stands for `tensorflow.…`, a module outside of the public namespaces; None where nothing does."""
    head, _, rest = fullname.removeprefix("tensorflow.").partition(".")
    if head == "python":
        if rest in _PYTHON:
            return Stand(fullname, _PYTHON[rest])
        if re.fullmatch(r"(ops|training|framework)\.gen_\w+_ops", rest):
            return Stand(fullname, "ops")
        if rest == "" or any(known.startswith(f"{rest}.") for known in _PYTHON):
            return _package(fullname)
    if head == "contrib" and (found := re.fullmatch(r"(\w+)\.python(\.(?!.*\bnets\b).*)?", rest)):
        public = f"tf.contrib.{found[1]}"
        return Stand(fullname, public) if dir(_place(public)) else None
    if head == "core":
        last = rest.rpartition(".")[2]
        if last.endswith("_pb2"):
            return _messages(last)
        if rest in ("", "example", "framework", "lib", "lib.core", "profiler", "protobuf", "util"):
            return _package(fullname)
    return None


def _package(fullname: str) -> types.ModuleType:
    package = types.ModuleType(fullname)
    package.__path__ = []
    return package


def _messages(name: str) -> types.ModuleType | None:
    if name in _MESSAGES:
        return Stand(f"tensorflow.core.{name}", _MESSAGES[name])
    try:
        return importlib.import_module(f"tensorboard.compat.proto.{name}")
    except ModuleNotFoundError:
        return None
