"""What `tf.compat.v2.compat` has of its own: both versions."""

import tfexp as v1
from tfexp.version_2 import v2 as v2
