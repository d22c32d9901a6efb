"""`tf.queue`: queues."""

from tfexp.core.gone import missing_from
from tfexp.ops.queue import FIFOQueue as FIFOQueue
from tfexp.ops.queue import PaddingFIFOQueue as PaddingFIFOQueue
from tfexp.ops.queue import PriorityQueue as PriorityQueue
from tfexp.ops.queue import QueueBase as QueueBase
from tfexp.ops.queue import RandomShuffleQueue as RandomShuffleQueue

__getattr__ = missing_from("tf.queue")
