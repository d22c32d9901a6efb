"""The switches between TensorFlow 1's and 2's behaviour. tfexp has the first: turning the second off changes
nothing. (Those of resource variables, which are in both, are in `ops.eager_variables`.)

Source: `tf.disable_v2_behavior` and its parts, TF 1.15.
"""

from __future__ import annotations

from collections.abc import Callable

from tfexp.graph.scopes import executing_eagerly


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
disable_control_flow_v2 = _already_off("disable_control_flow_v2", "functional control flow is")
disable_tensor_equality = _already_off("disable_tensor_equality", "comparing tensors by value is")
disable_v2_tensorshape = _already_off("disable_v2_tensorshape", "plain numbers as dimensions are")

enable_v2_behavior = _not_there("enable_v2_behavior", "graphs and sessions")
enable_control_flow_v2 = _not_there("enable_control_flow_v2", "control flow by Switch and Merge")
enable_tensor_equality = _not_there("enable_tensor_equality", "tensors that are equal when they are the same")
enable_v2_tensorshape = _not_there("enable_v2_tensorshape", "dimensions that are `tf.Dimension`s")


def disable_eager_execution() -> None:
    """Nothing to do; ValueError once eager execution is on, which it then is for good. `tf.disable_eager_execution`."""
    if executing_eagerly():
        raise ValueError("tf.disable_eager_execution must be called at program startup.")


def control_flow_v2_enabled() -> bool:
    """False: `tf.cond` and `tf.while_loop` make Switch and Merge nodes. `tf.control_flow_v2_enabled`."""
    return False
