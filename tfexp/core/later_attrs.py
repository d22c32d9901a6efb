"""Attributes that ops gained after TensorFlow 1.15, by comparing 1.15.0's registered ops with 2.21's.

Their defaults mean what 1.15 did, so a node that has no more to say is written without them: TensorFlow 1.15 refuses nodes
with attributes that it does not know, and later ones fill them in.
"""

from __future__ import annotations

# attribute -> the ops that have it in 2.21 and did not in 1.15
OPS_BY_ATTR = {
    "Tcomplex": "IRFFT IRFFT2D IRFFT3D RFFT RFFT2D RFFT3D",
    "Tk": "TopKV2",
    "Treal": "IRFFT IRFFT2D IRFFT3D RFFT RFFT2D RFFT3D",
    "Tsegmentids": """
        SparseSegmentMean SparseSegmentMeanGrad SparseSegmentMeanWithNumSegments SparseSegmentSqrtN
        SparseSegmentSqrtNGrad SparseSegmentSqrtNWithNumSegments SparseSegmentSum
        SparseSegmentSumWithNumSegments
    """,
    "Tshape": "TensorListGetItem",
    "allow_missing_files": "MergeV2Checkpoints",
    "allow_stateful": "DatasetToGraph",
    "allowed_devices": "VarHandleOp",
    "auto_shard_policy": "AutoShardDataset ExperimentalAutoShardDataset",
    "axis": "Dequantize QuantizeAndDequantizeV2 QuantizeAndDequantizeV3 QuantizeV2",
    "bad_indices_policy": """
        GatherNd ResourceScatterNdAdd ResourceScatterNdSub ResourceScatterNdUpdate ScatterNd
        ScatterNdAdd ScatterNdSub ScatterNdUpdate
    """,
    "batch_padding_policy": "BatchFunction",
    "blank_index": "CTCGreedyDecoder",
    "buffer_size_min": "PrefetchDataset",
    "cardinality_options": "DatasetCardinality",
    "compilation_failure_closes_chips": "ConfigureDistributedTPU",
    "debug_name": "VarHandleOp",
    "drop_remainder": "SlidingWindowDataset",
    "dtype": "Dequantize",
    "enable_large_batch_splitting": "BatchFunction",
    "enable_whole_mesh_compilations": "ConfigureDistributedTPU",
    "ensure_minimum_range": "QuantizeV2",
    "explicit_paddings": """
        DepthwiseConv2dNative DepthwiseConv2dNativeBackpropFilter DepthwiseConv2dNativeBackpropInput
        MaxPool MaxPoolGrad
    """,
    "exponential_avg_factor": "FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3",
    "external_state_policy": "SerializeIterator",
    "fill_mode": "ImageProjectiveTransformV2",
    "force_synchronous": "ExperimentalMapDataset MapDataset",
    "grad_a": "MatMul",
    "grad_b": "MatMul",
    "grad_x": "BatchMatMul BatchMatMulV2",
    "grad_y": "BatchMatMul BatchMatMulV2",
    "index": "TPUReplicatedInput",
    "index_type": "TopKV2",
    "is_files": "TensorSliceDataset",
    "is_mirrored_variable": "TPUReplicatedInput",
    "is_packed": "TPUReplicatedInput",
    "log_warning": "ExperimentalIgnoreErrorsDataset IgnoreErrorsDataset",
    "logits_dimension": "BoostedTreesUpdateEnsembleV2",
    "low_priority_allowed_batch_sizes": "BatchFunction",
    "low_priority_batch_timeout_micros": "BatchFunction",
    "low_priority_max_batch_size": "BatchFunction",
    "low_priority_max_enqueued_batches": "BatchFunction",
    "metadata": """
        BatchDataset BatchDatasetV2 CacheDataset CacheDatasetV2 ConcatenateDataset
        DatasetToSingleElement FilterDataset FixedLengthRecordDataset FixedLengthRecordDatasetV2
        FlatMapDataset GeneratorDataset GroupByWindowDataset InterleaveDataset MapAndBatchDataset
        MapDataset PaddedBatchDataset PaddedBatchDatasetV2 ParallelInterleaveDataset
        ParallelInterleaveDatasetV2 ParallelMapDataset PrefetchDataset RandomDataset RangeDataset
        ReduceDataset RepeatDataset ScanDataset ShardDataset ShuffleAndRepeatDataset ShuffleDataset
        ShuffleDatasetV2 SkipDataset TFRecordDataset TakeDataset TakeWhileDataset TensorDataset
        TensorSliceDataset TextLineDataset UnbatchDataset UniqueDataset WindowDataset ZipDataset
    """,
    "mixed_priority_policy": "BatchFunction",
    "mode": "SnapshotDataset",
    "multiply_linear_by_lr": """
        ApplyFtrl ApplyFtrlV2 ResourceApplyFtrl ResourceApplyFtrlV2 ResourceSparseApplyFtrl
        ResourceSparseApplyFtrlV2 SparseApplyFtrl SparseApplyFtrlV2
    """,
    "narrow_range": "Dequantize QuantizeV2",
    "num_replicas": "AutoShardDataset",
    "offset": "InitializeTableFromTextFile InitializeTableFromTextFileV2",
    "perturb_singular": "TridiagonalSolve",
    "ram_budget": "ModelDataset",
    "ragged_keys": "ParseExampleDataset",
    "ragged_split_types": "ParseExampleDataset",
    "ragged_value_types": "ParseExampleDataset",
    "replicate_on_split": "RangeDataset TensorSliceDataset",
    "reshuffle_each_iteration": "ShuffleAndRepeatDataset",
    "resize_if_index_out_of_bounds": "TensorListSetItem",
    "seed": "SnapshotDataset",
    "seed2": "SnapshotDataset",
    "shape_type": "ConcatOffset",
    "shuffle_on_read": "SnapshotDataset",
    "snapshot_name": "SnapshotDataset",
    "sparse_gradient": """
        SparseSegmentMean SparseSegmentMeanWithNumSegments SparseSegmentSqrtN
        SparseSegmentSqrtNWithNumSegments SparseSegmentSum SparseSegmentSumWithNumSegments
    """,
    "stop_on_empty_dataset": "DirectedInterleaveDataset",
    "strip_device_assignment": "DatasetToGraph",
    "timeout_seconds": "CollectiveBcastRecv CollectiveBcastSend CollectiveGather CollectiveReduce",
    "tpu_cancellation_closes_chips": "ConfigureDistributedTPU",
    "tpu_compile_options_proto": "TPUReplicateMetadata",
    "use_default_device": "ScanDataset",
    "use_shardy_partitioner": "TPUReplicateMetadata",
    "use_spmd_for_xla_partitioning": "TPUReplicateMetadata",
    "validate_shape": "AssignVariableOp",
}

_OF_OP: dict[str, frozenset[str]] = {}
for _attr, _ops in OPS_BY_ATTR.items():
    for _op in _ops.split():
        _OF_OP[_op] = _OF_OP.get(_op, frozenset()) | {_attr}


def later_attrs(op: str) -> frozenset[str]:
    """The attributes of a node of type `op` that 1.15 did not know."""
    return _OF_OP.get(op, frozenset())
