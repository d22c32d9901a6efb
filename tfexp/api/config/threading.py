"""`tf.config.threading`: re-exports."""

from tfexp.core.gone import missing_from
from tfexp.runtime.process_config import get_inter_op_parallelism_threads as get_inter_op_parallelism_threads
from tfexp.runtime.process_config import get_intra_op_parallelism_threads as get_intra_op_parallelism_threads
from tfexp.runtime.process_config import set_inter_op_parallelism_threads as set_inter_op_parallelism_threads
from tfexp.runtime.process_config import set_intra_op_parallelism_threads as set_intra_op_parallelism_threads

__getattr__ = missing_from("tf.config.threading")
