"""`tf.contrib.eager`: the names of eager execution (G10)."""

from tfexp.data.iterator import EagerIterator as Iterator
from tfexp.graph.custom_gradient import custom_gradient as custom_gradient
from tfexp.graph.gradient_functions import gradients_function as gradients_function
from tfexp.graph.gradient_functions import implicit_gradients as implicit_gradients
from tfexp.graph.gradient_functions import implicit_value_and_gradients as implicit_value_and_gradients
from tfexp.graph.gradient_functions import value_and_gradients_function as value_and_gradients_function
from tfexp.graph.scopes import executing_eagerly as executing_eagerly
from tfexp.graph.tape import GradientTape as GradientTape
from tfexp.ops.eager_variables import EagerVariable as Variable
from tfexp.ops.variable_store import EagerVariableStore as EagerVariableStore
from tfexp.runtime.eager import enable_eager_execution as enable_eager_execution
from tfexp.runtime.eager import list_devices as list_devices
from tfexp.runtime.eager import num_gpus as num_gpus

in_eager_mode = executing_eagerly

__all__ = ["Iterator", "Variable"]
