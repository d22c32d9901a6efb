"""`tf.estimator.RunConfig`: where, how often and as which task of a cluster an Estimator runs. Source: TF 1.15."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Mapping
from typing import Any

from tensorboard.compat.proto.config_pb2 import ConfigProto

from tfexp.core.log import get_logger
from tfexp.distribute.collective import MultiWorkerMirroredStrategy
from tfexp.distribute.strategy import Strategy
from tfexp.distributed.cluster import ClusterSpec
from tfexp.estimator.arguments import argument_names
from tfexp.estimator.tf_config import default_device_filters, read_task

_log = get_logger()
_UNSET: Any = object()
_DEFAULT_SAVE_SECS = 600


def _at_least(least: float, *, more: bool = False) -> tuple[Callable[[Any], bool], str]:
    said = f"should be {'>' if more else '>='} {least}"
    return (lambda value: value > least if more else value >= least), said


# What a property has to be, unless it is None.
_REQUIREMENTS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "model_dir": (bool, "should be non-empty"),
    "tf_random_seed": (lambda value: isinstance(value, int), "must be integer"),
    "save_summary_steps": _at_least(0),
    "save_checkpoints_steps": _at_least(0),
    "save_checkpoints_secs": _at_least(0),
    "session_config": (lambda value: isinstance(value, ConfigProto), "must be instance of ConfigProto"),
    "keep_checkpoint_max": _at_least(0),
    "keep_checkpoint_every_n_hours": _at_least(0, more=True),
    "log_step_count_steps": _at_least(0, more=True),
    "device_fn": (
        lambda value: callable(value) and argument_names(value) == ("op",),
        'must be callable with exactly one argument "op"',
    ),
    "train_distribute": (lambda value: isinstance(value, Strategy), "must be a tf.distribute.Strategy"),
    "eval_distribute": (lambda value: isinstance(value, Strategy), "must be a tf.distribute.Strategy"),
    "protocol": (lambda value: value in ("grpc", "grpc+verbs"), "should be grpc or grpc+verbs"),
    "session_creation_timeout_secs": _at_least(0, more=True),
}
_REPLACEABLE = (
    "model_dir",
    "tf_random_seed",
    "save_summary_steps",
    "save_checkpoints_steps",
    "save_checkpoints_secs",
    "session_config",
    "keep_checkpoint_max",
    "keep_checkpoint_every_n_hours",
    "log_step_count_steps",
    "train_distribute",
    "device_fn",
    "protocol",
    "eval_distribute",
    "experimental_distribute",
    "experimental_max_worker_delay_secs",
    "session_creation_timeout_secs",
)


def default_session_config(filters: tuple[str, ...] = ()) -> ConfigProto:
    """What sessions of Estimators are made with where the program does not say."""
    return ConfigProto(allow_soft_placement=True, device_filters=filters)


class RunConfig:
    """Settings of a run; the task comes from the environment variable `TF_CONFIG`.

    Checkpoints are written every `save_checkpoints_secs` (600 by default) or `_steps`; None for both: never. ValueError for
    both, and for values out of range. `device_fn(op)` gives devices in place of `tf.train.replica_device_setter`.
    `train_distribute`, `eval_distribute`: the strategies (`tf.distribute`) under which the model is trained and evaluated;
    `experimental_distribute` has both, as a `tf.contrib.distribute.DistributeConfig`, and excludes `train_distribute`.
    """

    def __init__(
        self,
        model_dir: str | os.PathLike[str] | None = None,
        tf_random_seed: int | None = None,
        save_summary_steps: int | None = 100,
        save_checkpoints_steps: int | None = _UNSET,
        save_checkpoints_secs: float | None = _UNSET,
        session_config: ConfigProto | None = None,
        keep_checkpoint_max: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000,
        log_step_count_steps: int | None = 100,
        train_distribute: Strategy | None = None,
        device_fn: Callable[[Any], str] | None = None,
        protocol: str | None = None,
        eval_distribute: Strategy | None = None,
        experimental_distribute: Any = None,
        experimental_max_worker_delay_secs: float | None = None,
        session_creation_timeout_secs: float = 7200,
    ):
        if save_checkpoints_steps is _UNSET and save_checkpoints_secs is _UNSET:
            save_checkpoints_steps, save_checkpoints_secs = None, _DEFAULT_SAVE_SECS
        elif save_checkpoints_secs is _UNSET:
            save_checkpoints_secs = None
        elif save_checkpoints_steps is _UNSET:
            save_checkpoints_steps = None
        text = os.environ.get("TF_CONFIG")
        if text:
            _log.info("TF_CONFIG environment variable: %s", text)
        both = None if experimental_distribute is None else experimental_distribute.train_distribute
        in_step = isinstance(train_distribute or both, MultiWorkerMirroredStrategy)
        self._task = read_task(text, needs_chief=not in_step)
        filters = default_device_filters(self._task.type, self._task.index) if self._task.cluster.jobs else None
        if session_config is None and filters is not None:
            session_config = default_session_config(filters)
        self._properties: dict[str, Any] = {}
        self._set(
            {
                "model_dir": self._agreed(model_dir),
                "tf_random_seed": tf_random_seed,
                "save_summary_steps": save_summary_steps,
                "save_checkpoints_steps": save_checkpoints_steps,
                "save_checkpoints_secs": save_checkpoints_secs,
                "session_config": session_config,
                "keep_checkpoint_max": keep_checkpoint_max,
                "keep_checkpoint_every_n_hours": keep_checkpoint_every_n_hours,
                "log_step_count_steps": log_step_count_steps,
                "train_distribute": train_distribute,
                "device_fn": device_fn,
                "protocol": protocol,
                "eval_distribute": eval_distribute,
                "experimental_distribute": experimental_distribute,
                "experimental_max_worker_delay_secs": experimental_max_worker_delay_secs,
                "session_creation_timeout_secs": session_creation_timeout_secs,
            }
        )

    def _agreed(self, model_dir: str | os.PathLike[str] | None) -> str | None:
        """The folder that the program or TF_CONFIG names. ValueError where they name two."""
        named, model_dir = self._task.model_dir, None if model_dir is None else os.fspath(model_dir)
        if None not in (model_dir, named) and model_dir != named:
            raise ValueError(
                "`model_dir` provided in RunConfig construct, if set, must have the same value as the model_dir in "
                f'TF_CONFIG. model_dir: {model_dir}\nTF_CONFIG["model_dir"]: {named}.'
            )
        if named is not None:
            _log.info("Using model_dir in TF_CONFIG: %s", named)
        return named if model_dir is None else model_dir

    def _set(self, changes: dict[str, Any]) -> None:
        both = changes.get("experimental_distribute")
        if both is not None:
            changes.update(_parts(both, changes.get("train_distribute")))
        if changes.get("save_checkpoints_steps") is not None and changes.get("save_checkpoints_secs") is not None:
            raise ValueError("`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set.")
        for name, value in changes.items():
            meets, said = _REQUIREMENTS.get(name, (lambda value: True, ""))
            if value is not None and not meets(value):
                raise ValueError(f"{name} {said}. Given: {value!r}")
        self._properties.update(changes)

    def replace(self, **kwargs: Any) -> RunConfig:
        """A copy with other values of the properties of the constructor. ValueError for others, and as the constructor."""
        for name in kwargs:
            if name not in _REPLACEABLE:
                raise ValueError(f"Replacing {name} is not supported. Allowed properties are {list(_REPLACEABLE)}.")
        changes = dict(kwargs)
        if changes.get("save_checkpoints_steps") is not None and "save_checkpoints_secs" not in changes:
            changes["save_checkpoints_secs"] = None
        elif changes.get("save_checkpoints_secs") is not None and "save_checkpoints_steps" not in changes:
            changes["save_checkpoints_steps"] = None
        made = copy.copy(self)
        made._properties = dict(self._properties)
        if changes.get("model_dir") is not None:
            changes["model_dir"] = os.fspath(changes["model_dir"])
        made._set(changes)
        return made

    def __repr__(self) -> str:
        task = self._task
        shown = {
            **self._properties,
            "session_config": str(self.session_config).replace("\n", " ").strip(),
            "task_type": task.type,
            "task_id": task.index,
            "cluster_spec": task.cluster,
            "master": task.master,
            "is_chief": task.is_chief,
            "num_ps_replicas": task.num_ps_replicas,
            "num_worker_replicas": task.num_worker_replicas,
        }
        return f"RunConfig({', '.join(f'{name}={value!r}' for name, value in shown.items())})"

    # --- what the program says ---------------------------------------------------------------------------------------

    @property
    def model_dir(self) -> str | None:
        return self._properties["model_dir"]

    @property
    def tf_random_seed(self) -> int | None:
        return self._properties["tf_random_seed"]

    @property
    def save_summary_steps(self) -> int | None:
        return self._properties["save_summary_steps"]

    @property
    def save_checkpoints_steps(self) -> int | None:
        return self._properties["save_checkpoints_steps"]

    @property
    def save_checkpoints_secs(self) -> float | None:
        return self._properties["save_checkpoints_secs"]

    @property
    def session_config(self) -> ConfigProto | None:
        return self._properties["session_config"]

    @property
    def keep_checkpoint_max(self) -> int | None:
        return self._properties["keep_checkpoint_max"]

    @property
    def keep_checkpoint_every_n_hours(self) -> float:
        return self._properties["keep_checkpoint_every_n_hours"]

    @property
    def log_step_count_steps(self) -> int | None:
        """How many steps between lines of the log with the loss and the speed."""
        return self._properties["log_step_count_steps"]

    @property
    def device_fn(self) -> Callable[[Any], str] | None:
        return self._properties["device_fn"]

    @property
    def protocol(self) -> str | None:
        return self._properties["protocol"]

    @property
    def experimental_max_worker_delay_secs(self) -> float | None:
        """How long a worker waits for the chief at most before it begins; None: 60 seconds."""
        return self._properties["experimental_max_worker_delay_secs"]

    @property
    def session_creation_timeout_secs(self) -> float:
        """How long a worker waits for the chief to make the model ready."""
        return self._properties["session_creation_timeout_secs"]

    @property
    def train_distribute(self) -> Strategy | None:
        """The strategy under which the model is trained."""
        return self._properties["train_distribute"]

    @property
    def eval_distribute(self) -> Strategy | None:
        """The strategy under which the model is evaluated."""
        return self._properties["eval_distribute"]

    # --- what TF_CONFIG says -----------------------------------------------------------------------------------------

    @property
    def task_type(self) -> str:
        """`worker` (also of a process that is alone), `chief`, `ps` or `evaluator`."""
        return self._task.type

    @property
    def task_id(self) -> int:
        return self._task.index

    @property
    def global_id_in_cluster(self) -> int | None:
        """A number that no other task has; the chief's is 0. None for an evaluator."""
        return self._task.number

    @property
    def cluster_spec(self) -> ClusterSpec:
        return self._task.cluster

    @property
    def is_chief(self) -> bool:
        """Whether this process initialises and saves the model."""
        return self._task.is_chief

    @property
    def master(self) -> str:
        """The target of sessions for training, "" for this process alone."""
        return self._task.master

    @property
    def evaluation_master(self) -> str:
        return self._task.evaluation_master

    @property
    def num_ps_replicas(self) -> int:
        return self._task.num_ps_replicas

    @property
    def num_worker_replicas(self) -> int:
        """Workers, and the chief."""
        return self._task.num_worker_replicas

    @property
    def service(self) -> Mapping[str, Any] | None:
        return self._task.service


def _parts(config: Any, train_distribute: Strategy | None) -> dict[str, Any]:
    """The strategies of a DistributeConfig. ValueError with another one beside it, and for a cluster that is elsewhere."""
    if train_distribute is not None:
        raise ValueError("Either `train_distribute` or `experimental_distribute` can be set, not both.")
    if config.remote_cluster:
        raise ValueError(
            f"The remote_cluster of experimental_distribute must be None: it is {config.remote_cluster!r}. Start a process "
            "for each of its tasks, and say by TF_CONFIG which one it is."
        )
    return {"train_distribute": config.train_distribute, "eval_distribute": config.eval_distribute}
