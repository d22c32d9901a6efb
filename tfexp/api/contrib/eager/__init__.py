"""`tf.contrib.eager`: eager execution's own names."""

from tfexp.api.app import run as run
from tfexp.api.contrib.eager import metrics as metrics
from tfexp.contributed.eager_network import Network as Network
from tfexp.contributed.eager_network import Sequential as Sequential
from tfexp.contributed.eager_network_checkpoints import restore_network_checkpoint as restore_network_checkpoint
from tfexp.contributed.eager_network_checkpoints import save_network_checkpoint as save_network_checkpoint
from tfexp.contributed.eager_saver import Saver as Saver
from tfexp.contributed.eager_saver import restore_variables_on_create as restore_variables_on_create
from tfexp.core.gone import missing_from
from tfexp.data.eager_iterator import EagerIterator as Iterator
from tfexp.functions.function import function as defun
from tfexp.functions.function import function as function
from tfexp.graph.custom_gradient import custom_gradient as custom_gradient
from tfexp.graph.gradient_functions import gradients_function as gradients_function
from tfexp.graph.gradient_functions import implicit_gradients as implicit_gradients
from tfexp.graph.gradient_functions import implicit_value_and_gradients as implicit_value_and_gradients
from tfexp.graph.gradient_functions import value_and_gradients_function as value_and_gradients_function
from tfexp.graph.scopes import executing_eagerly as executing_eagerly
from tfexp.graph.tape import GradientTape as GradientTape
from tfexp.graph.type_spec import TensorSpec as TensorSpec
from tfexp.ops.eager_variables import EagerVariable as Variable
from tfexp.ops.py_func import py_function as py_func
from tfexp.ops.template import make_template as make_template
from tfexp.ops.trackable import Trackable as Checkpointable
from tfexp.ops.variable_store import EagerVariableStore as EagerVariableStore
from tfexp.runtime.eager import ASYNC as ASYNC
from tfexp.runtime.eager import DEVICE_PLACEMENT_EXPLICIT as DEVICE_PLACEMENT_EXPLICIT
from tfexp.runtime.eager import DEVICE_PLACEMENT_SILENT as DEVICE_PLACEMENT_SILENT
from tfexp.runtime.eager import DEVICE_PLACEMENT_SILENT_FOR_INT32 as DEVICE_PLACEMENT_SILENT_FOR_INT32
from tfexp.runtime.eager import DEVICE_PLACEMENT_WARN as DEVICE_PLACEMENT_WARN
from tfexp.runtime.eager import SYNC as SYNC
from tfexp.runtime.eager import enable_eager_execution as enable_eager_execution
from tfexp.runtime.eager import list_devices as list_devices
from tfexp.runtime.eager import num_gpus as num_gpus
from tfexp.runtime.eager_executors import async_clear_error as async_clear_error
from tfexp.runtime.eager_executors import async_wait as async_wait
from tfexp.runtime.eager_executors import execution_mode as execution_mode
from tfexp.runtime.eager_executors import set_execution_mode as set_execution_mode
from tfexp.runtime.execution_callbacks import ExecutionCallback as ExecutionCallback
from tfexp.runtime.execution_callbacks import add_execution_callback as add_execution_callback
from tfexp.runtime.execution_callbacks import clear_execution_callbacks as clear_execution_callbacks
from tfexp.runtime.execution_callbacks import errstate as errstate
from tfexp.runtime.execution_callbacks import inf_callback as inf_callback
from tfexp.runtime.execution_callbacks import inf_nan_callback as inf_nan_callback
from tfexp.runtime.execution_callbacks import nan_callback as nan_callback
from tfexp.runtime.execution_callbacks import seterr as seterr
from tfexp.runtime.testing_modes import run_all_in_graph_and_eager_modes as run_all_tests_in_graph_and_eager_modes
from tfexp.runtime.testing_modes import run_in_graph_and_eager_modes as run_test_in_graph_and_eager_modes
from tfexp.train.checkpoint import Checkpoint as Checkpoint
from tfexp.train.optimizer import Optimizer

in_eager_mode = executing_eagerly
get_optimizer_variables = Optimizer.variables

__all__ = [
    "Iterator",
    "Variable",
    "defun",
    "run_all_tests_in_graph_and_eager_modes",
    "run_test_in_graph_and_eager_modes",
]

__getattr__ = missing_from("tf.contrib.eager")
