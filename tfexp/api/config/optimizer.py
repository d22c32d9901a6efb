"""`tf.config.optimizer`: re-exports."""

from tfexp.core.gone import missing_from
from tfexp.runtime.process_config import get_experimental_options as get_experimental_options
from tfexp.runtime.process_config import get_jit as get_jit
from tfexp.runtime.process_config import set_experimental_options as set_experimental_options
from tfexp.runtime.process_config import set_jit as set_jit

__getattr__ = missing_from("tf.config.optimizer")
