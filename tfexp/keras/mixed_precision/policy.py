"""Which types a layer computes in and keeps its variables in. Source: `tf.keras.mixed_precision.experimental`, TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.keras.backend.config import floatx

_HALVES = {"mixed_float16": "float16", "mixed_bfloat16": "bfloat16"}
_WITH_FLOAT32 = "_with_float32_vars"


class Policy:
    """By name: a dtype's (both types), "infer" (both are the first input's), "mixed_float16" or "mixed_bfloat16".

    The last two compute in halves with variables in float32, as does "<dtype>_with_float32_vars"; with
    "infer_with_float32_vars" the computation is in the first input's type. loss_scale: what a model of this policy scales
    its loss by in training: a `tf.train.experimental.LossScale`, a number, "dynamic" or None; by default "dynamic" for
    "mixed_float16". ValueError for another name.
    """

    def __init__(self, name: str, loss_scale: Any = "by name"):
        if isinstance(name, dtypes.DType):
            raise TypeError(f"'name' must be a string, not a DType. Instead, pass DType.name. Got: {name.name}")
        if not isinstance(name, str):
            raise TypeError(f"'name' must be a string, but got: {name!r}")
        self._name = name
        self._compute_dtype, self._variable_dtype = _types_of(name)
        self._given_loss_scale = loss_scale
        self._loss_scale: Any = None
        self._loss_scale_made = False

    @property
    def name(self) -> str:
        return self._name

    @property
    def compute_dtype(self) -> str | None:
        """The type of the computation, by name; None: that of the first input."""
        return self._compute_dtype

    @property
    def variable_dtype(self) -> str | None:
        """The type of the variables, by name; None: that of the first input."""
        return self._variable_dtype

    @property
    def should_cast_variables(self) -> bool:
        """Whether variables are read in another type than they have."""
        return self._variable_dtype is not None and self._compute_dtype != self._variable_dtype

    @property
    def loss_scale(self) -> Any:
        """A `tf.train.experimental.LossScale`, or None. It is made when it is first asked for."""
        if not self._loss_scale_made:
            from tfexp.train.loss_scale import as_loss_scale_or_none

            given = self._given_loss_scale
            if given == "by name":
                given = "dynamic" if self._name == "mixed_float16" else None
            self._loss_scale, self._loss_scale_made = as_loss_scale_or_none(given), True
        return self._loss_scale

    def with_input_dtype(self, dtype: Any) -> Policy:
        """The policy of a layer whose first input has this type: itself, unless it infers."""
        if self._compute_dtype is not None:
            return self
        return Policy(f"{dtypes.as_dtype(dtype).base_dtype.name}{self._name.removeprefix('infer')}", self._given_loss_scale)

    def get_config(self) -> dict[str, Any]:
        """What `from_config` takes."""
        config: dict[str, Any] = {"name": self._name}
        if self._given_loss_scale != "by name":
            scale = self._given_loss_scale
            config["loss_scale"] = (
                {"class_name": type(scale).__name__, "config": scale.get_config()} if hasattr(scale, "get_config") else scale
            )
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Policy:
        config = dict(config)
        if isinstance(config.get("loss_scale"), dict):
            from tfexp.train.loss_scale import loss_scale_of_config

            config["loss_scale"] = loss_scale_of_config(config["loss_scale"])
        return cls(**config)

    def __repr__(self) -> str:
        return f'<Policy "{self._name}">'


def _types_of(name: str) -> tuple[str | None, str | None]:
    """(the type of the computation, that of the variables)."""
    if name in _HALVES:
        return _HALVES[name], "float32"
    plain = name.removesuffix(_WITH_FLOAT32)
    compute = None
    if plain != "infer":
        try:
            compute = dtypes.as_dtype(plain).name
        except TypeError as error:
            raise ValueError(
                f"Cannot convert value {name} to a mixed precision Policy. Valid policies include 'mixed_float16', "
                "'mixed_bfloat16', 'infer', the name of any dtype such as 'float32', and that with '_with_float32_vars'."
            ) from error
    return compute, compute if plain == name else "float32"


INFER = Policy("infer")
_global: Policy | None = None
_follows_floatx = False


def follow_floatx(value: bool) -> None:
    """Whether layers compute in Keras's float type, to which they cast their inputs, where nothing is said: as in 2.x."""
    global _follows_floatx
    _follows_floatx = value


def follows_floatx() -> bool:
    """What `follow_floatx` said last; False at first."""
    return _follows_floatx


def global_policy() -> Policy:
    """The policy of layers that are given no dtype; where none was set "infer", or Keras's float type."""
    if _global is not None:
        return _global
    return Policy(floatx()) if _follows_floatx else INFER


def set_policy(policy: Any) -> None:
    """From here on new layers without a dtype have this policy, or the one of this name; None: what they had at first."""
    global _global
    _global = policy if policy is None or isinstance(policy, Policy) else Policy(policy)


def policy_of(dtype: Any) -> Policy:
    """The policy that a layer's argument `dtype` stands for: a Policy or its config, a dtype, None for the global one."""
    if dtype is None:
        return global_policy()
    if isinstance(dtype, Policy):
        return dtype
    if isinstance(dtype, dict):
        return Policy.from_config(dtype["config"])
    return Policy(dtypes.as_dtype(dtype).base_dtype.name)
