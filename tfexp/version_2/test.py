"""What `tf.compat.v2.test` has of its own."""

from tfexp.api import test
from tfexp.version_2.arguments import with_arguments

assert_equal_graph_def = with_arguments(
    test.assert_equal_graph_def, "expected, actual", checkpoint_v2=True, hash_table_shared_name=True
)
