"""`tf.config`: what sessions without a ConfigProto of their own, and eager execution, are told. Source: TF 1.15.

Devices and threads are settled when logical devices are asked for; the rest may change later, for the sessions that come.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tensorboard.compat.proto import config_pb2, rewriter_config_pb2

from tfexp.runtime.device_list import local_devices
from tfexp.runtime.gpus import real_gpus


class PhysicalDevice(NamedTuple):
    """A device of this computer."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device that nodes are placed on."""

    name: str
    device_type: str


class VirtualDeviceConfiguration(NamedTuple):
    """One of the logical devices that a physical device is to be, with this memory in MB."""

    memory_limit: int | None = None


class _Process:
    """The one configuration of this process."""

    def __init__(self) -> None:
        self.proto = config_pb2.ConfigProto()
        self.is_set = False
        self.is_settled = False
        self.hidden: set[PhysicalDevice] = set()
        self.virtual: dict[PhysicalDevice, list[VirtualDeviceConfiguration]] = {}
        self.device_policy = "silent"
        self.is_synchronous = True

    def change(self) -> config_pb2.ConfigProto:
        """The ConfigProto, for a change."""
        self.is_set = True
        return self.proto

    def check_open(self, what: str) -> None:
        if self.is_settled:
            raise RuntimeError(f"{what} cannot be modified after initialization.")


_process = _Process()


def reset() -> None:
    """Forget all settings, as a new process has none."""
    _process.__init__()  # type: ignore[misc]  # the one object, anew


def for_session() -> config_pb2.ConfigProto | None:
    """What a session without a ConfigProto takes, None if nothing has been set."""
    if not _process.is_set:
        return None
    copy = config_pb2.ConfigProto()
    copy.CopyFrom(_process.proto)
    return copy


# --- devices ------------------------------------------------------------------------------------------------------------


def _physical() -> list[PhysicalDevice]:
    gpus = [PhysicalDevice(f"/physical_device:GPU:{i}", "GPU") for i in range(real_gpus(None))]
    return [PhysicalDevice("/physical_device:CPU:0", "CPU"), *gpus]


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices of this computer. Source: `tf.config.experimental.list_physical_devices`."""
    return [device for device in _physical() if device_type in (None, device.device_type)]


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """Those that are used. Source: `tf.config.experimental.get_visible_devices`."""
    return [device for device in list_physical_devices(device_type) if device not in _process.hidden]


def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Use these (of that type), and no others. Source: `tf.config.experimental.set_visible_devices`.

    ValueError for what is no physical device, RuntimeError once devices are in use. There is always a CPU.
    """
    wanted = list(devices) if isinstance(devices, list) or type(devices) is tuple else [devices]
    for device in wanted:
        _check_device(device)
    hidden = {one for one in list_physical_devices(device_type) if one not in wanted}
    others = {one for one in _process.hidden if device_type not in (None, one.device_type)}
    if hidden | others == _process.hidden:
        return
    _process.check_open("Visible devices")
    _process.hidden = hidden | others
    gpus = list_physical_devices("GPU")
    used = [i for i, device in enumerate(gpus) if device not in _process.hidden]
    proto = _process.change()
    proto.gpu_options.visible_device_list = ",".join(map(str, used)) if len(used) < len(gpus) else ""
    if gpus and not used:
        proto.device_count["GPU"] = 0
    elif "GPU" in proto.device_count:
        del proto.device_count["GPU"]


def _check_device(device: Any) -> None:
    if device not in _physical():
        raise ValueError(f"Unrecognized device: {device!r}; there are {_physical()}")


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices that nodes may be placed on, which are settled now. `tf.config.experimental.list_logical_devices`."""
    _process.is_settled = True
    names = [f"/device:{name.rpartition('/device:')[2]}" for name in local_devices(_process.proto)]
    devices = [LogicalDevice(name, name.split(":")[1]) for name in names]
    return [device for device in devices if device_type in (None, device.device_type)]


def list_devices() -> list[str]:
    """The full names of the logical devices. Source: `tf.config.experimental_list_devices`."""
    _process.is_settled = True
    return list(local_devices(_process.proto))


def get_memory_growth(device: PhysicalDevice) -> bool:
    """Whether a GPU's memory is taken as it is needed. Source: `tf.config.experimental.get_memory_growth`."""
    _check_device(device)
    return bool(_process.proto.gpu_options.allow_growth)


def set_memory_growth(device: PhysicalDevice, enable: bool) -> None:
    """Take a GPU's memory as it is needed. ValueError for other devices. `tf.config.experimental.set_memory_growth`."""
    _check_device(device)
    if device.device_type != "GPU":
        raise ValueError(f"Cannot set memory growth on non-GPU devices: {device.name}")
    if bool(enable) != get_memory_growth(device):
        _process.check_open("Memory growth")
        _process.change().gpu_options.allow_growth = bool(enable)


def get_virtual_device_configuration(device: PhysicalDevice) -> list[VirtualDeviceConfiguration] | None:
    """The logical devices that a physical one is to be, None where nobody has said so."""
    _check_device(device)
    return _process.virtual.get(device)


def set_virtual_device_configuration(device: PhysicalDevice, virtual_devices: Sequence[VirtualDeviceConfiguration]) -> None:
    """Make several logical devices of a physical one. `tf.config.experimental.set_virtual_device_configuration`.

    ValueError for memory limits of a CPU, RuntimeError once devices are in use. A GPU is one device.
    """
    _check_device(device)
    virtual = list(virtual_devices)
    if device.device_type == "CPU" and any(one.memory_limit is not None for one in virtual):
        raise ValueError("Setting memory limit on CPU virtual devices is currently not supported")
    if device.device_type == "GPU" and len(virtual) != 1:
        raise ValueError(f"{device.name} is one logical device here, and cannot be {len(virtual)}")
    if virtual == _process.virtual.get(device):
        return
    _process.check_open("Virtual devices")
    _process.virtual[device] = virtual
    if device.device_type == "CPU":
        _process.change().device_count["CPU"] = len(virtual)


def get_soft_device_placement() -> bool:
    """Whether nodes go elsewhere where their device cannot run them. Source: `tf.config.get_soft_device_placement`."""
    return bool(_process.proto.allow_soft_placement)


def set_soft_device_placement(enabled: bool) -> None:
    """Whether nodes are to go elsewhere where their device cannot run them. `tf.config.set_soft_device_placement`."""
    _process.change().allow_soft_placement = bool(enabled)


def get_log_device_placement() -> bool:
    """Whether sessions say where nodes are. Source: `tf.debugging.get_log_device_placement`."""
    return bool(_process.proto.log_device_placement)


def set_log_device_placement(enabled: bool) -> None:
    """Whether sessions are to say where nodes are. Source: `tf.debugging.set_log_device_placement`."""
    _process.change().log_device_placement = bool(enabled)


# --- threads --------------------------------------------------------------------------------------------------------------


def get_intra_op_parallelism_threads() -> int:
    """The threads that one node may use, 0 for as many as fit. `tf.config.threading.get_intra_op_parallelism_threads`."""
    return int(_process.proto.intra_op_parallelism_threads)


def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """RuntimeError once devices are settled."""
    if num_threads != get_intra_op_parallelism_threads():
        _process.check_open("Intra op parallelism")
        _process.change().intra_op_parallelism_threads = num_threads


def get_inter_op_parallelism_threads() -> int:
    """The nodes that may run at once, 0 for as many as fit. `tf.config.threading.get_inter_op_parallelism_threads`."""
    return int(_process.proto.inter_op_parallelism_threads)


def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """RuntimeError once devices are settled."""
    if num_threads != get_inter_op_parallelism_threads():
        _process.check_open("Inter op parallelism")
        _process.change().inter_op_parallelism_threads = num_threads


# --- the optimizer --------------------------------------------------------------------------------------------------------

_TOGGLES = (
    "layout_optimizer",
    "constant_folding",
    "shape_optimization",
    "remapping",
    "arithmetic_optimization",
    "dependency_optimization",
    "loop_optimization",
    "function_optimization",
    "debug_stripper",
    "scoped_allocator_optimization",
    "pin_to_host_optimization",
    "implementation_selector",
    "auto_mixed_precision",
)
_SWITCHES = ("disable_model_pruning", "disable_meta_optimizer")
_Toggle = rewriter_config_pb2.RewriterConfig


def get_jit() -> bool:
    """Whether steps are compiled. Source: `tf.config.optimizer.get_jit`."""
    level = _process.proto.graph_options.optimizer_options.global_jit_level
    return bool(level not in (config_pb2.OptimizerOptions.DEFAULT, config_pb2.OptimizerOptions.OFF))


def set_jit(enabled: bool) -> None:
    """Whether the steps of new sessions are to be compiled. Source: `tf.config.optimizer.set_jit`."""
    levels = config_pb2.OptimizerOptions
    _process.change().graph_options.optimizer_options.global_jit_level = levels.ON_1 if enabled else levels.OFF


def get_experimental_options() -> dict[str, bool]:
    """What has been said of TensorFlow's passes over graphs. Source: `tf.config.optimizer.get_experimental_options`."""
    options = _process.proto.graph_options.rewrite_options
    said = {name: getattr(options, name) for name in _TOGGLES}
    known = {name: value == _Toggle.ON for name, value in said.items() if value != _Toggle.DEFAULT}
    return {**known, **{name: getattr(options, name) for name in _SWITCHES}}


def set_experimental_options(options: dict[str, bool]) -> None:
    """Say which of TensorFlow's passes over graphs are to run; the planner here does what pays (a session says so).

    ValueError for a name that is none of them. Source: `tf.config.optimizer.set_experimental_options`.
    """
    unknown = sorted(set(options) - {*_TOGGLES, *_SWITCHES})
    if unknown:
        raise ValueError(f"There is no option {', '.join(unknown)}; there are {', '.join((*_TOGGLES, *_SWITCHES))}")
    rewriting = _process.change().graph_options.rewrite_options
    for name, wanted in options.items():
        setattr(rewriting, name, (_Toggle.ON if wanted else _Toggle.OFF) if name in _TOGGLES else bool(wanted))


# --- eager execution ------------------------------------------------------------------------------------------------------

_POLICIES = ("silent", "silent_for_int32", "warn", "explicit")


def get_device_policy() -> str:
    """What happens to inputs on other devices than their op. Source: `tf.config.experimental.get_device_policy`."""
    return _process.device_policy


def set_device_policy(device_policy: str | None) -> None:
    """Accepted: eager execution has one device. ValueError for a word that is no policy."""
    policy = "silent" if device_policy is None else device_policy
    if policy not in _POLICIES:
        raise ValueError(f"Not a valid device policy: {device_policy!r}; one of {', '.join(_POLICIES)}, or None")
    _process.device_policy = policy


def get_synchronous_execution() -> bool:
    """Whether calls wait for their results. Source: `tf.config.experimental.get_synchronous_execution`."""
    return _process.is_synchronous


def set_synchronous_execution(enable: bool) -> None:
    """Accepted: an op has run when its call returns, which nobody can tell from one that runs later."""
    _process.is_synchronous = bool(enable)


def connect_to_host(remote_host: Any = None, job_name: str = "worker") -> None:
    """ValueError without a host, NotImplementedError with one. Source: `tf.config.experimental_connect_to_host`."""
    if not remote_host:
        raise ValueError("Must provide at least one remote_host")
    raise NotImplementedError(
        f"tf.config.experimental_connect_to_host({remote_host!r}): eager execution runs in this process; a graph runs there "
        f"in tf.Session('grpc://{remote_host}')"
    )


def connect_to_cluster(
    cluster_spec_or_resolver: Any, job_name: str = "localhost", task_index: int = 0, protocol: str | None = None
) -> None:
    """NotImplementedError. Source: `tf.config.experimental_connect_to_cluster`."""
    raise NotImplementedError(
        "tf.config.experimental_connect_to_cluster: eager execution runs in this process; a graph runs on a cluster in "
        "tf.Session(server.target), with a tf.train.Server for each task"
    )
