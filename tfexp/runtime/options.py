"""Options of a session and of a run that are accepted and change nothing here: whoever sets one is told, once."""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto import config_pb2

from tfexp.core import log
from tfexp.plan import narrow
from tfexp.runtime import placement
from tfexp.runtime.gpus import has_plugin
from tfexp.runtime.jit import NUMBA
from tfexp.runtime.libraries import ONEDNN

_SHARED_THREADS = "the threads that run the heavy nodes of steps are the process's: none of them ever waits"
_NO_GPU_MEMORY = "the GPUs of this process are virtual, and have the computer's memory"
_PLANNER = "the planner always does what pays"

_NETWORK = "the transport between tasks has its own settings"
_TRACES = "the time of every node is in RunMetadata, with RunOptions.trace_level"
_AS_BUILT = "graphs are planned as they are, for each step"

# Option -> why it has no effect. A group that is named here stands for all of its options.
_CONFIG = {
    "use_per_session_threads": _SHARED_THREADS,
    "session_inter_op_thread_pool": _SHARED_THREADS,
    "gpu_options.allow_growth": _NO_GPU_MEMORY,
    "gpu_options.allocator_type": _NO_GPU_MEMORY,
    "gpu_options.deferred_deletion_bytes": _NO_GPU_MEMORY,
    "gpu_options.force_gpu_compatible": _NO_GPU_MEMORY,
    "gpu_options.experimental": _NO_GPU_MEMORY,
    "gpu_options.polling_active_delay_usecs": _NO_GPU_MEMORY,
    "gpu_options.polling_inactive_delay_msecs": _NO_GPU_MEMORY,
    "pluggable_device_options": "there are no pluggable devices here",
    "graph_options.optimizer_options.do_common_subexpression_elimination": _PLANNER,
    "graph_options.optimizer_options.do_constant_folding": _PLANNER,
    "graph_options.optimizer_options.max_folded_constant_in_bytes": _PLANNER,
    "graph_options.optimizer_options.do_function_inlining": _PLANNER,
    "graph_options.optimizer_options.opt_level": _PLANNER,
    "graph_options.optimizer_options.cpu_global_jit": "global_jit_level compiles for the CPU too",
    "graph_options.rewrite_options": _PLANNER,
    "graph_options.build_cost_model": _TRACES,
    "graph_options.build_cost_model_after": _TRACES,
    "graph_options.timeline_step": _TRACES,
    "graph_options.enable_recv_scheduling": _AS_BUILT,
    "graph_options.infer_shapes": "shapes are always inferred",
    "graph_options.place_pruned_graph": "only what a step needs is ever placed",
    "rpc_options": _NETWORK,
    "cluster_def": "a session takes its cluster from the server that it connects to",
    "share_cluster_devices_in_session": "a session takes its cluster from the server that it connects to",
    "experimental": "nothing experimental of TensorFlow's is here",
}
_READ_REWRITERS = frozenset({placement.NAME, narrow.NAME, NUMBA, ONEDNN})
"""The custom optimizers that are no such thing: they tell of costs, of what travels in fewer bits, of what computes."""
_READ = {"collective_group_leader"}
_OF_REAL_GPUS = frozenset({"gpu_options.allow_growth"})
_RUN = {
    "debug_options": "there is no debugger here: fetch the values, or print them with tf.Print",
    "inter_op_thread_pool": _SHARED_THREADS,
    "report_tensor_allocations_upon_oom": "what has no memory always names its largest tensors",
    "experimental": "nothing experimental of TensorFlow's is here",
}

_told: set[str] = set()


def tell_unsupported(config: config_pb2.ConfigProto | None) -> None:
    """Log, once in a process, each option of a ConfigProto that is set and has no effect."""
    if config is not None:
        config = _without_what_is_read(config)
    has_effect = _OF_REAL_GPUS if has_plugin() else frozenset()
    _tell("ConfigProto", config, {path: reason for path, reason in _CONFIG.items() if path not in has_effect})


def _without_what_is_read(config: config_pb2.ConfigProto) -> config_pb2.ConfigProto:
    """The options, but for those that have an effect."""
    rest = config_pb2.ConfigProto()
    rest.CopyFrom(config)
    for holder, group in ((rest.graph_options, "rewrite_options"), (rest, "experimental")):
        options = getattr(holder, group)
        was_set = bool(options.ListFields())
        for field, value in options.ListFields():
            if field.name in _READ:
                options.ClearField(field.name)
            elif field.name == "custom_optimizers":
                others = [optimizer for optimizer in value if optimizer.name not in _READ_REWRITERS]
                del value[:]
                value.extend(others)
        if was_set and not options.ListFields():
            holder.ClearField(group)
    return rest


def tell_unsupported_of_run(options: config_pb2.RunOptions | None) -> None:
    """The same for RunOptions."""
    _tell("RunOptions", options, _RUN)


def _tell(message: str, given: Any, reasons: dict[str, str]) -> None:
    if given is None:
        return
    for path, reason in reasons.items():
        name = f"{message}.{path}"
        if name not in _told and _is_set(given, path.split(".")):
            _told.add(name)
            log.warn("%s has no effect: %s", name, reason)


def _is_set(proto: Any, path: list[str]) -> bool:
    for field in path[:-1]:
        if not proto.HasField(field):
            return False
        proto = getattr(proto, field)
    return any(field.name == path[-1] for field, _ in proto.ListFields())
