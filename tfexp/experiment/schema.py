"""The settings of a run, as the rest of the package sees them: frozen dataclasses.

`conf/` holds the values, these classes hold the types and ranges. The sections `train`, `device` and `cluster`
have one schema each; a section of a group whose choices differ (model, data, optimizer, …) names its class in
`target` ("package.module:Class"), and that class's fields are the section's schema. A class of the user's own
is checked in the same way as ours.
"""

from __future__ import annotations

import dataclasses
import importlib
import math
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, TypeGuard

from tfexp.core.wording import plural
from tfexp.experiment.errors import SettingError, no_such

if TYPE_CHECKING:
    from tfexp.experiment.datasets.source import Data
    from tfexp.experiment.inputs.input import Input
    from tfexp.experiment.models.model import Model
    from tfexp.experiment.optimizers import Optimizer
    from tfexp.experiment.replication import Replication
    from tfexp.experiment.schedules import Schedule
    from tfexp.experiment.update import Update

__all__ = [
    "Balance",
    "Cluster",
    "Device",
    "EarlyStop",
    "Hosting",
    "Placer",
    "Placement",
    "Section",
    "Settings",
    "Train",
    "WireDtype",
    "bounded",
    "resolve",
]


def bounded(
    *,
    least: float | None = None,
    most: float | None = None,
    above: float | None = None,
    below: float | None = None,
    says: str = "",
    default: Any = dataclasses.MISSING,
) -> Any:
    """A field whose number, or each of whose numbers, must lie in the given range. A setting of a file in `conf/` needs no
    `default`, as the file gives its value; where there is one, it is the file's.

    `says` describes it, under `description` in the field's metadata.
    """
    limits = {
        "at least": (least, float.__ge__),
        "at most": (most, float.__le__),
        "above": (above, float.__gt__),
        "below": (below, float.__lt__),
    }
    ranges = {words: (bound, holds) for words, (bound, holds) in limits.items() if bound is not None}
    return dataclasses.field(default=default, metadata={"ranges": ranges, "description": says})


@dataclass(frozen=True, kw_only=True)
class Section:
    """A section of the configuration. Raises SettingError for a number that is not finite, out of its range, or beyond 64
    bits.
    """

    inside: ClassVar[str] = ""
    """The name, with a dot, under which this section stands in its parent section."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, list):  # OmegaConf gives lists for tuples
                value = tuple(value)
                object.__setattr__(self, field.name, value)
            for number in value if isinstance(value, tuple) else (value,):
                if isinstance(number, bool) or not isinstance(number, int | float):
                    continue
                if not math.isfinite(number):
                    raise SettingError(self.inside + field.name, f"{number} is not a finite number")
                if isinstance(number, int) and not -(2**63) <= number < 2**63:
                    raise SettingError(self.inside + field.name, f"{number} is no whole number of 64 bits")
                for words, (bound, holds) in field.metadata.get("ranges", {}).items():
                    if not holds(float(number), float(bound)):
                        raise SettingError(self.inside + field.name, f"{number} must be {words} {bound}")


@dataclass(frozen=True, kw_only=True)
class EarlyStop(Section):
    """Stop when the test loss has not improved by more than `min_delta` for `patience` evaluations."""

    inside = "early_stop."

    patience: int | None = bounded(
        least=1, says="evaluations without a better test loss before the run stops; null: never stop early"
    )
    min_delta: float = bounded(least=0, says="a better loss is lower by more than this")


@dataclass(frozen=True, kw_only=True)
class Train(Section):
    """How long, in what portions, and what to keep. Intervals are in steps; 0 is 'only at the ends'."""

    steps: int | None = bounded(least=1, says="updates of the variables, of all workers together")
    epochs: int | None = bounded(least=1, says="passes over the training rows; when given, takes the place of steps")
    batch_size: int | None = bounded(
        least=1, says="rows of a step: of each worker, or, with update=sync, of all together; null: all training rows"
    )
    seed: int = bounded(
        least=0, below=2**31, says="of the graph (initial values, random ops) and of the order of the batches"
    )
    eval_every: int = bounded(least=0, says="steps between evaluations; 0: only at the start and the end")
    checkpoint_every: int = bounded(least=0, says="steps between checkpoints; 0: only at the start and the end")
    summary_every: int = bounded(least=0, says="steps between summaries for TensorBoard; 0: none but the graph")
    trace_every: int = bounded(least=0, says="steps between traces of a step's nodes, for Perfetto and TensorBoard; 0: none")
    keep_checkpoints: int = bounded(
        least=0, below=2**31, says="the last so many checkpoints stay, older ones are deleted; 0: keep all"
    )
    keep_best: bool = bounded(says="the checkpoint of the lowest test loss stays, too, in checkpoints/best", default=False)
    early_stop: EarlyStop = bounded(says="when to stop before the last step")
    start_from: str | None = bounded(
        says="a run's folder, or a checkpoint: the model's variables begin with its values; null: anew",
        default=None,
    )
    freeze: tuple[str, ...] = bounded(
        says="names of the model's variables that stay as they begin, as tfexp.preview shows them; * stands for any letters",
        default=(),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.steps is None and self.epochs is None:
            raise SettingError("steps", "give train.steps or train.epochs")


class Placer(Enum):
    """Each member's value says what it does."""

    simple = "everything goes to device.name"
    dynamic = "what nothing else pins goes where steps were measured to end earliest"


class Jit(Enum):
    """Each member's value says what it compiles."""

    none = "nothing"
    xla = "the largest parts of each step, by XLA"
    numba = "the loops of element-wise ops, of optimizers' updates and over windows, by Numba"


@dataclass(frozen=True, kw_only=True)
class Device(Section):
    """Where the model's ops run (`tf.device`) and the session's ConfigProto."""

    name: str = bounded(says="where the model's ops run, as tf.device names it: /cpu:0")
    intra_op_threads: int = bounded(least=0, below=2**31, says="threads inside one op; 0: the runtime decides")
    inter_op_threads: int = bounded(least=0, below=2**31, says="threads for independent ops; 0: the runtime decides")
    soft_placement: bool = bounded(says="run an op on another device where the named one has no kernel for it")
    log_placement: bool = bounded(says="print where each node runs")
    jit: Jit = bounded(says="what compiles parts of each step: none, xla (the xla extra) or numba (the jit extra)")
    onednn: bool = bounded(says="compute convolutions and large products by oneDNN: needs the onednn extra")
    placement: Placer = bounded(says="simple (all on device.name) or dynamic (where steps were measured to be fastest)")
    costs: str = bounded(says="with placement=dynamic: an earlier run's folder, or its step_stats.pb, to start from")


class Hosting(Enum):
    """Each member's value says what it is."""

    ray = "Ray actors"
    process = "processes of this machine"
    static = "servers that run already, at the addresses given"


class Placement(Enum):
    """Each member's value is Ray's name for it."""

    pack = "PACK"
    spread = "SPREAD"


class WireDtype(Enum):
    """In what float32 values go from task to task."""

    float32 = "float32"
    bfloat16 = "bfloat16"
    float16 = "float16"


class Balance(Enum):
    """How the variables are spread over the parameter servers."""

    turns = "in turns"
    bytes = "by their size"


@dataclass(frozen=True, kw_only=True)
class Cluster(Section):
    """Which tasks there are, and where they run. Without any, the run is one process."""

    hosting: Hosting = bounded(says="ray, process (of this machine) or static (servers at the addresses given)")
    ps: int = bounded(least=0, says="parameter servers; with hosting=static, ps_hosts has them")
    workers: int = bounded(least=0, says="workers; with hosting=static, worker_hosts has them")
    ps_hosts: tuple[str, ...] = bounded(says="with hosting=static: host:port of every parameter server, in order")
    worker_hosts: tuple[str, ...] = bounded(says="with hosting=static: host:port of every worker, in order")
    address: str = bounded(says="of Ray: local (one of this run's own), auto (this machine's cluster) or host:port")
    placement: Placement = bounded(says="in Ray: pack the tasks on few machines, or spread them over many")
    ps_cpus: float = bounded(least=0, says="CPUs that each parameter server takes of Ray's")
    worker_cpus: float = bounded(least=0, says="CPUs that each worker takes of Ray's")
    ps_gpus: float = bounded(least=0, says="GPUs that each parameter server takes of Ray's")
    worker_gpus: float = bounded(least=0, says="GPUs that each worker takes of Ray's")
    start_within: float = bounded(above=0, says="seconds that the tasks have to come up")
    restarts: int = bounded(least=0, says="times that each task is started again when it is lost; 0: the run ends")
    silence: float = bounded(least=0, says="seconds without a word after which a task is replaced; 0: it is only named")
    wire_dtype: WireDtype = bounded(
        says="float32, bfloat16 or float16: in what parameters and gradients go from task to task"
    )
    shard_above: int | None = bounded(
        least=1, says="bytes from which on a variable is cut into a piece for each parameter server; null: none is"
    )
    balance: Balance = bounded(
        says="variables go to the parameter servers in turns, or each to the one with the fewest bytes"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, count in (("ps_hosts", self.ps), ("worker_hosts", self.workers)):
            hosts = getattr(self, name)
            if hosts and not self.is_static:
                raise SettingError(name, f"is for cluster.hosting=static, and it is {self.hosting.name}")
            if self.is_static and count not in (0, len(hosts)):
                raise SettingError(name, f"has {len(hosts)} addresses for {count} tasks")
            for host in hosts:
                machine, _, port = host.rpartition(":")
                if not machine or not port.isdecimal() or not 0 < int(port) < 2**16:
                    raise SettingError(name, f"'{host}' is not host:port")
        addresses = [*self.ps_hosts, *self.worker_hosts]
        for address in addresses:
            if addresses.count(address) > 1:
                raise SettingError("worker_hosts", f"two tasks have the address {address}")

    @property
    def is_static(self) -> bool:
        return self.hosting is Hosting.static

    @property
    def ps_count(self) -> int:
        return len(self.ps_hosts) if self.is_static else self.ps

    @property
    def worker_count(self) -> int:
        return len(self.worker_hosts) if self.is_static else self.workers

    @property
    def tasks(self) -> int:
        return self.ps_count + self.worker_count

    @property
    def described(self) -> str:
        """`1 parameter server and 2 workers`."""
        return f"{plural(self.ps_count, 'parameter server')} and {plural(self.worker_count, 'worker')}"


@dataclass(frozen=True)
class Settings:
    """Everything that decides a run's numbers."""

    model: Model
    data: Data
    input: Input
    optimizer: Optimizer
    schedule: Schedule
    device: Device
    cluster: Cluster
    replication: Replication
    update: Update
    train: Train

    def __post_init__(self) -> None:
        """Raises SettingError for choices that do not go together."""
        self.replication.check(self.cluster)
        self.update.check(self.cluster, self.replication)

    @property
    def copies(self) -> int:
        """How many copies of the model train at the same time."""
        return self.replication.copies(self.cluster)

    @property
    def going_on(self) -> Settings:
        """Of a run that goes on: what its model began with is in its own checkpoints."""
        return dataclasses.replace(self, train=dataclasses.replace(self.train, start_from=None))

    @property
    def repeatable(self) -> bool:
        """Whether the same run comes to the same numbers, to the bit."""
        return self.update.repeatable(self.cluster, self.replication) and self.input.repeatable

    @property
    def title(self) -> str:
        title = f"{type(self.model).__name__} on {type(self.data).__name__}"
        if not self.cluster.tasks:
            return title if self.copies == 1 else f"{title}, {self.copies} towers"
        return f"{title}, {plural(self.copies, 'worker')}"


def resolve(target: str, base: type) -> type:
    """The class that "package.module:Class" names; it must be a dataclass derived from `base`."""
    module_name, colon, class_name = target.partition(":")
    if not (module_name and colon and class_name):
        raise SettingError("target", f"'{target}' is not of the form package.module:Class")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not (module_name == error.name or module_name.startswith(error.name + ".")):
            raise  # the module is there; something that it imports is not
        raise SettingError("target", f"there is no module '{error.name}' (of '{target}')") from error
    found = getattr(module, class_name, None)
    suitable = {name for name, value in vars(module).items() if _is_schema(value, base) and value.__module__ == module_name}
    if found is None:
        raise SettingError("target", no_such(f"class in {module_name} called", class_name, suitable))
    if not _is_schema(found, base):
        raise SettingError("target", f"'{target}' is not a dataclass derived from {base.__module__}.{base.__name__}")
    annotated = [hint for hint in vars(found).get("__annotations__", {}).values() if "ClassVar" not in str(hint)]
    if annotated and "__dataclass_fields__" not in vars(found):
        problem = f"'{target}' has fields of its own, and no @dataclass(frozen=True, kw_only=True) above it"
        raise SettingError("target", problem)
    lacking = sorted(getattr(found, "__abstractmethods__", ()))
    if lacking:
        raise SettingError("target", f"'{target}' lacks {', '.join(lacking)}")
    return found


def _is_schema(value: Any, base: type) -> TypeGuard[type]:
    return isinstance(value, type) and issubclass(value, base) and dataclasses.is_dataclass(value)
