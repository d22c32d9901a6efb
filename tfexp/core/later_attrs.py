"""Attributes that ops gained after TensorFlow 1.15, by comparing 1.15.0's registered ops with 2.21's.

Their defaults mean what 1.15 did, so a node that has no more to say is written without them: TensorFlow 1.15 refuses nodes
with attributes that it does not know, and later ones fill them in.
"""

from __future__ import annotations

# attribute -> the ops that have it in 2.21 and did not in 1.15
OPS_BY_ATTR = {
    "Tk": "TopKV2",
    "Tsegmentids": """
        SparseSegmentMean SparseSegmentMeanGrad SparseSegmentMeanWithNumSegments SparseSegmentSqrtN
        SparseSegmentSqrtNGrad SparseSegmentSqrtNWithNumSegments SparseSegmentSum
        SparseSegmentSumWithNumSegments
    """,
    "allow_missing_files": "MergeV2Checkpoints",
    "allowed_devices": "VarHandleOp",
    "bad_indices_policy": """
        GatherNd ResourceScatterNdAdd ResourceScatterNdSub ResourceScatterNdUpdate ScatterNd
        ScatterNdAdd ScatterNdSub ScatterNdUpdate
    """,
    "buffer_size_min": "PrefetchDataset",
    "debug_name": "VarHandleOp",
    "explicit_paddings": """
        DepthwiseConv2dNative DepthwiseConv2dNativeBackpropFilter DepthwiseConv2dNativeBackpropInput MaxPool
        MaxPoolGrad
    """,
    "exponential_avg_factor": "FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3",
    "external_state_policy": "SerializeIterator",
    "force_synchronous": "MapDataset",
    "grad_a": "MatMul",
    "grad_b": "MatMul",
    "grad_x": "BatchMatMul BatchMatMulV2",
    "grad_y": "BatchMatMul BatchMatMulV2",
    "index_type": "TopKV2",
    "is_files": "TensorSliceDataset",
    "log_warning": "IgnoreErrorsDataset",
    "metadata": """
        BatchDatasetV2 CacheDataset ConcatenateDataset FilterDataset FixedLengthRecordDatasetV2 FlatMapDataset
        GeneratorDataset InterleaveDataset MapAndBatchDataset MapDataset PaddedBatchDatasetV2
        ParallelInterleaveDatasetV2 ParallelMapDataset PrefetchDataset RangeDataset ReduceDataset RepeatDataset
        ScanDataset ShardDataset ShuffleAndRepeatDataset ShuffleDataset SkipDataset TFRecordDataset TakeDataset
        TensorDataset TensorSliceDataset TextLineDataset WindowDataset ZipDataset
    """,
    "multiply_linear_by_lr": """
        ApplyFtrl ApplyFtrlV2 ResourceApplyFtrl ResourceApplyFtrlV2 ResourceSparseApplyFtrl
        ResourceSparseApplyFtrlV2 SparseApplyFtrl SparseApplyFtrlV2
    """,
    "replicate_on_split": "RangeDataset TensorSliceDataset",
    "reshuffle_each_iteration": "ShuffleAndRepeatDataset",
    "shape_type": "ConcatOffset",
    "sparse_gradient": """
        SparseSegmentMean SparseSegmentMeanWithNumSegments SparseSegmentSqrtN SparseSegmentSqrtNWithNumSegments
        SparseSegmentSum SparseSegmentSumWithNumSegments
    """,
    "timeout_seconds": "CollectiveBcastRecv CollectiveBcastSend CollectiveGather CollectiveReduce",
    "use_default_device": "ScanDataset",
    "validate_shape": "AssignVariableOp",
}

_OF_OP: dict[str, frozenset[str]] = {}
for _attr, _ops in OPS_BY_ATTR.items():
    for _op in _ops.split():
        _OF_OP[_op] = _OF_OP.get(_op, frozenset()) | {_attr}


def later_attrs(op: str) -> frozenset[str]:
    """The attributes of a node of type `op` that 1.15 did not know."""
    return _OF_OP.get(op, frozenset())
