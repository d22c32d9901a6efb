"""`tf.ragged`: re-exports."""

from tfexp.core.gone import missing_from
from tfexp.ragged_tensors.arrays import boolean_mask as boolean_mask
from tfexp.ragged_tensors.arrays import range as range
from tfexp.ragged_tensors.arrays import stack as stack
from tfexp.ragged_tensors.arrays import stack_dynamic_partitions as stack_dynamic_partitions
from tfexp.ragged_tensors.constants import constant as constant
from tfexp.ragged_tensors.constants import constant_value as constant_value
from tfexp.ragged_tensors.constants import placeholder as placeholder
from tfexp.ragged_tensors.elementwise import map_flat_values as map_flat_values
from tfexp.ragged_tensors.rows import row_splits_to_segment_ids as row_splits_to_segment_ids
from tfexp.ragged_tensors.rows import segment_ids_to_row_splits as segment_ids_to_row_splits
from tfexp.ragged_tensors.value import RaggedTensorValue as RaggedTensorValue

__getattr__ = missing_from("tf.ragged")
