"""What `tf.compat.v2.autograph` has of its own."""

from tfexp import autograph
from tfexp.version_2.arguments import with_arguments

to_code = with_arguments(autograph.to_code, "entity, recursive=True, experimental_optional_features=None")
to_graph = with_arguments(autograph.to_graph, "entity, recursive=True, experimental_optional_features=None")
