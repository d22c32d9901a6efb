"""`tensorflow.python.distribute`'s `combinations` and `strategy_combinations`: what tests run on. Source: TF 1.15."""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import tfexp as tf
from tfexp.distribute.contexts import get_strategy
from tfexp.keras.optimizers import adagrad, adam, gradient_descent, rmsprop
from tfexp.runtime.eager import num_gpus
from tfexp.stand_ins.test_combinations import (
    MODES_AND_VERSIONS,
    NamedObject,
    OptionalParameter,
    ParameterModifier,
    TestCombination,
    combine,
    generate,
)

# --- `combinations` ---------------------------------------------------------------------------------------------------


class NamedDistribution:
    """How a strategy is made, under the name that stands for it in the names of tests, and what it needs."""

    def __init__(
        self,
        name: str,
        distribution_fn: Callable[[], Any],
        required_gpus: int | None = None,
        required_tpu: bool = False,
    ):
        self._name = name
        self._distribution_fn = distribution_fn
        self.required_gpus = required_gpus
        self.required_tpu = required_tpu

    @property
    def strategy(self) -> Any:
        """A new strategy."""
        return self._distribution_fn()

    def __repr__(self) -> str:
        return self._name


class DistributionParameter(ParameterModifier):
    """Tests get the strategies of the distributions among their arguments."""

    def modified_arguments(self, kwargs: dict[str, Any], requested_parameters: Sequence[str]) -> dict[str, Any]:
        return {name: value.strategy for name, value in kwargs.items() if isinstance(value, NamedDistribution)}


def _distributions(kwargs: dict[str, Any]) -> list[NamedDistribution]:
    return [value for value in kwargs.values() if isinstance(value, NamedDistribution)]


class NamedGPUCombination(TestCombination):
    """Tests for GPUs run where there are as many: `required_gpus`, their own or those of their distributions."""

    GPU_TEST = False

    def should_execute_combination(self, kwargs: dict[str, Any]) -> tuple[bool, str | None]:
        distributions, own = _distributions(kwargs), kwargs.get("required_gpus")
        if distributions and own:
            raise ValueError("Do not use `required_gpus` and arguments of type NamedDistribution together.")
        needed = max([own or 0, *(one.required_gpus or 0 for one in distributions)])
        if not needed and self.GPU_TEST:
            return False, "Test that doesn't require GPUs."
        if num_gpus() < needed:
            return False, f"Only {num_gpus()} of {needed} required GPUs are available."
        return True, None

    def parameter_modifiers(self) -> list[ParameterModifier]:
        return [OptionalParameter("required_gpus")]


class GPUCombination(NamedGPUCombination):
    """That, and tests get strategies."""

    def parameter_modifiers(self) -> list[ParameterModifier]:
        return [DistributionParameter(), OptionalParameter("required_gpus")]


class NamedTPUCombination(TestCombination):
    """Tests for TPUs (`required_tpu`, `required_tpus`) do not run: there are none."""

    TPU_TEST = False

    def should_execute_combination(self, kwargs: dict[str, Any]) -> tuple[bool, str | None]:
        needs = kwargs.get("required_tpu") or kwargs.get("required_tpus")
        if needs or any(one.required_tpu for one in _distributions(kwargs)):
            return False, "Test requires a TPU, but it's not available."
        return True, None

    def parameter_modifiers(self) -> list[ParameterModifier]:
        return [OptionalParameter("required_tpus"), OptionalParameter("required_tpu")]


class TPUCombination(NamedTPUCombination):
    """That, and tests get strategies."""

    def parameter_modifiers(self) -> list[ParameterModifier]:
        return [DistributionParameter(), *super().parameter_modifiers()]


generate_for_strategies = functools.partial(
    generate, test_combinations=(*MODES_AND_VERSIONS, GPUCombination(), TPUCombination())
)

# --- strategies -------------------------------------------------------------------------------------------------------


def _on_one(device: str) -> Callable[[], Any]:
    return lambda: tf.distribute.OneDeviceStrategy(device)


def _mirrored(*devices: str) -> Callable[[], Any]:
    return lambda: tf.distribute.MirroredStrategy(list(devices))


def _central(*devices: str) -> Callable[[], Any]:
    return lambda: tf.distribute.experimental.CentralStorageStrategy(list(devices))


def _no_tpu() -> Any:
    raise tf.errors.InvalidArgumentError(None, None, "there are no TPUs here")


default_strategy = NamedDistribution("Default", get_strategy)
one_device_strategy = NamedDistribution("OneDeviceCPU", _on_one("/cpu:0"))
one_device_strategy_gpu = NamedDistribution("OneDeviceGPU", _on_one("/gpu:0"), 1)
one_device_strategy_on_worker_1 = NamedDistribution("OneDeviceOnWorker1CPU", _on_one("/job:worker/replica:0/task:1/cpu:0"))
one_device_strategy_gpu_on_worker_1 = NamedDistribution(
    "OneDeviceOnWorker1GPU", _on_one("/job:worker/replica:0/task:1/gpu:0"), 1
)
mirrored_strategy_with_one_cpu = NamedDistribution("Mirrored1CPU", _mirrored("/cpu:0"))
mirrored_strategy_with_one_gpu = NamedDistribution("Mirrored1GPU", _mirrored("/gpu:0"), 1)
mirrored_strategy_with_gpu_and_cpu = NamedDistribution("MirroredCPUAndGPU", _mirrored("/gpu:0", "/cpu:0"), 1)
mirrored_strategy_with_two_gpus = NamedDistribution("Mirrored2GPUs", _mirrored("/gpu:0", "/gpu:1"), 2)
mirrored_strategy_with_cpu_1_and_2 = NamedDistribution("Mirrored2CPU", _mirrored("/cpu:1", "/cpu:2"))
central_storage_strategy_with_two_gpus = NamedDistribution("CentralStorage2GPUs", _central("/gpu:0", "/gpu:1"), 2)
central_storage_strategy_with_gpu_and_cpu = NamedDistribution("CentralStorageCPUAndGPU", _central("/gpu:0", "/cpu:0"), 1)
tpu_strategy = NamedDistribution("TPU", _no_tpu, required_tpu=True)
tpu_strategy_one_step = NamedDistribution("TPUOneStep", _no_tpu, required_tpu=True)
tpu_strategy_one_core = NamedDistribution("TPUOneCore", _no_tpu, required_tpu=True)
tpu_strategy_one_step_one_core = NamedDistribution("TPUOneStepOneCore", _no_tpu, required_tpu=True)

strategies_minus_tpu = [
    default_strategy,
    one_device_strategy,
    one_device_strategy_gpu,
    mirrored_strategy_with_gpu_and_cpu,
    mirrored_strategy_with_two_gpus,
]
_distributed = [
    one_device_strategy,
    mirrored_strategy_with_gpu_and_cpu,
    mirrored_strategy_with_two_gpus,
]
tpu_strategies = [tpu_strategy, tpu_strategy_one_step]

# --- optimizers -------------------------------------------------------------------------------------------------------

gradient_descent_optimizer_v1_fn = NamedObject("GradientDescentV1", lambda: tf.train.GradientDescentOptimizer(0.2))
adagrad_optimizer_v1_fn = NamedObject("AdagradV1", lambda: tf.train.AdagradOptimizer(0.001))
adam_optimizer_v1_fn = NamedObject("AdamV1", lambda: tf.train.AdamOptimizer(0.001, epsilon=1))
rmsprop_optimizer_v1_fn = NamedObject("RmsPropV1", lambda: tf.train.RMSPropOptimizer(0.001))
gradient_descent_optimizer_keras_v2_fn = NamedObject("GradientDescentKerasV2", lambda: gradient_descent.SGD(0.2))
adagrad_optimizer_keras_v2_fn = NamedObject("AdagradKerasV2", lambda: adagrad.Adagrad(0.001))
adam_optimizer_keras_v2_fn = NamedObject("AdamKerasV2", lambda: adam.Adam(0.001, epsilon=1.0))
rmsprop_optimizer_keras_v2_fn = NamedObject("RmsPropKerasV2", lambda: rmsprop.RMSprop(0.001))

optimizers_v1 = [gradient_descent_optimizer_v1_fn, adagrad_optimizer_v1_fn]
optimizers_v2 = [gradient_descent_optimizer_keras_v2_fn, adagrad_optimizer_keras_v2_fn]
optimizers_v1_and_v2 = optimizers_v1 + optimizers_v2
graph_and_eager_modes = ["graph", "eager"]

Combinations = list[OrderedDict[str, Any]]


def distributions_and_v1_optimizers() -> Combinations:
    return combine(distribution=_distributed, optimizer_fn=optimizers_v1)


def distributions_and_v2_optimizers() -> Combinations:
    return combine(distribution=_distributed, optimizer_fn=optimizers_v2)


def distributions_and_v1_and_v2_optimizers() -> Combinations:
    return combine(distribution=_distributed, optimizer_fn=optimizers_v1_and_v2)


def strategy_minus_tpu_combinations() -> Combinations:
    return combine(distribution=strategies_minus_tpu, mode=["graph", "eager"])


def tpu_strategy_combinations() -> Combinations:
    return combine(distribution=tpu_strategies, mode=["graph"])


def all_strategy_combinations() -> Combinations:
    return strategy_minus_tpu_combinations() + tpu_strategy_combinations()


def all_strategy_minus_default_and_tpu_combinations() -> Combinations:
    return combine(distribution=strategies_minus_tpu[1:], mode=["graph", "eager"])


def all_strategy_combinations_minus_default() -> Combinations:
    return all_strategy_minus_default_and_tpu_combinations() + tpu_strategy_combinations()


def set_virtual_cpus_to_at_least(num_virtual_cpus: int) -> None:
    """Make so many CPUs of the one that there is; ValueError for less than one, RuntimeError where it is too late."""
    if num_virtual_cpus < 1:
        raise ValueError(f"`num_virtual_cpus` must be at least 1 not {num_virtual_cpus!r}")
    config = tf.config.experimental
    (cpu, *_) = config.list_physical_devices("CPU")
    configured = config.get_virtual_device_configuration(cpu) or []
    if len(configured) < num_virtual_cpus:
        config.set_virtual_device_configuration(cpu, [config.VirtualDeviceConfiguration()] * num_virtual_cpus)
