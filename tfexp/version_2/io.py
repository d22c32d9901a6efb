"""What `tf.compat.v2.io` has of its own."""

from tfexp.api import io
from tfexp.ops.decode_raw import decode_raw_v2 as decode_raw
from tfexp.version_2.arguments import with_arguments

decode_csv = with_arguments(
    io.decode_csv,
    "records, record_defaults, field_delim=',', use_quote_delim=True, na_value='', select_cols=None, name=None",
)
parse_example = with_arguments(io.parse_example, "serialized, features, example_names=None, name=None")
parse_single_example = with_arguments(io.parse_single_example, "serialized, features, example_names=None, name=None")
serialize_many_sparse = with_arguments(io.serialize_many_sparse, "sp_input, out_type=string, name=None")
serialize_sparse = with_arguments(io.serialize_sparse, "sp_input, out_type=string, name=None")
