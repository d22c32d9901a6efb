"""What `tf.compat.v2.keras.losses` has of its own."""

from tfexp.keras.losses.weighted import Reduction as Reduction
