"""The switches between TensorFlow 1's and 2's behaviour. tfexp has the first, but for control flow, which may be either:
turning the second off changes nothing. (Those of resource variables, which are in both, are in `ops.eager_variables`.)

Source: `tf.disable_v2_behavior` and its parts, TF 1.15.
"""

from __future__ import annotations

from collections.abc import Callable

from tfexp.graph.scopes import executing_eagerly, get_default_graph


def _already_off(name: str, what: str) -> Callable[[], None]:
    def disable() -> None:
        return None

    disable.__name__ = disable.__qualname__ = name
    disable.__doc__ = f"Nothing to do: {what} off here. `tf.{name}`."
    return disable


def _not_there(name: str, what: str) -> Callable[[], None]:
    def enable() -> None:
        raise NotImplementedError(f"tf.{name}: tfexp has TensorFlow 1's behaviour only, {what}")

    enable.__name__ = enable.__qualname__ = name
    enable.__doc__ = f"NotImplementedError: tfexp has TensorFlow 1's behaviour only. `tf.{name}`."
    return enable


disable_v2_behavior = _already_off("disable_v2_behavior", "all of TensorFlow 2's behaviour is")
disable_tensor_equality = _already_off("disable_tensor_equality", "comparing tensors by value is")
disable_v2_tensorshape = _already_off("disable_v2_tensorshape", "plain numbers as dimensions are")

enable_v2_behavior = _not_there("enable_v2_behavior", "graphs and sessions")
enable_tensor_equality = _not_there("enable_tensor_equality", "tensors that are equal when they are the same")
enable_v2_tensorshape = _not_there("enable_v2_tensorshape", "dimensions that are `tf.Dimension`s")


def v2_behavior_enabled() -> bool:
    """False, see `enable_v2_behavior`: control flow v2 alone is not TensorFlow 2's. `tensorflow.python.tf2.enabled`."""
    return False


def disable_eager_execution() -> None:
    """Nothing to do; ValueError once eager execution is on, which it then is for good. `tf.disable_eager_execution`."""
    if executing_eagerly():
        raise ValueError("tf.disable_eager_execution must be called at program startup.")


# --- control flow -------------------------------------------------------------------------------------------------------


class _ControlFlow:
    functional = False


def enable_control_flow_v2() -> None:
    """From now on `tf.cond` and `tf.while_loop` make nodes that call functions (If, While), and TensorArrays are lists.

    In functions that are traced they always do. `tf.enable_control_flow_v2`.
    """
    _ControlFlow.functional = True


def disable_control_flow_v2() -> None:
    """From now on `tf.cond` and `tf.while_loop` make Switch and Merge nodes, as at first. `tf.disable_control_flow_v2`."""
    _ControlFlow.functional = False


def control_flow_v2_enabled() -> bool:
    """Whether control flow in graphs is by nodes that call functions. `tf.control_flow_v2_enabled`."""
    return _ControlFlow.functional


def is_control_flow_functional() -> bool:
    """Whether it is in the default graph."""
    return _ControlFlow.functional or get_default_graph().is_traced
