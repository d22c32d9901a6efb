"""Ops without a row in the op tables, each with the test that covers it and why a row would not do."""

from __future__ import annotations

# reason: ops
_BY_REASON = {
    "they need each other: test_collective.py": """
        CollectiveReduce CollectiveGather CollectiveBcastSend CollectiveBcastRecv
    """,
    "they take and give serialized protos: test_sparse_stored.py, tests/golden/programs/sparse_stored.py": """
        SerializeSparse SerializeManySparse DeserializeSparse
    """,
    "their map is a resource: test_sparse_stored.py, tests/golden/programs/sparse_stored.py": """
        AddSparseToTensorsMap AddManySparseToTensorsMap TakeManySparseFromTensorsMap
    """,
    "data sets and iterators are resources: tests/data, tests/golden/programs/datasets*.py": """
        TensorDataset TensorSliceDataset RangeDataset RepeatDataset TakeDataset SkipDataset ShardDataset
        ConcatenateDataset ZipDataset ShuffleDataset BatchDatasetV2 PaddedBatchDatasetV2 WindowDataset MapDataset
        ParallelMapDataset ParallelMapDatasetV2 FilterDataset ScanDataset FlatMapDataset InterleaveDataset
        ParallelInterleaveDatasetV2 ParallelInterleaveDatasetV4 PrefetchDataset CacheDataset ReduceDataset
        TextLineDataset TFRecordDataset FixedLengthRecordDatasetV2 IgnoreErrorsDataset IteratorV2 OneShotIterator
        MakeIterator IteratorGetNext IteratorToStringHandle IteratorFromStringHandleV2 SerializeIterator
        DeserializeIterator CSVDataset CSVDatasetV2 GeneratorDataset LegacyParallelInterleaveDatasetV2
        MapAndBatchDataset OptionsDataset ShuffleAndRepeatDataset
    """,
    "they work on the handle of a variable: test_resource_variables.py, tests/golden/programs/resource_variables.py": """
        VarHandleOp ReadVariableOp AssignVariableOp AssignAddVariableOp AssignSubVariableOp VarIsInitializedOp
        VariableShape ResourceCountUpTo ResourceStridedSliceAssign ResourceGather ResourceGatherNd ResourceScatterAdd
        ResourceScatterDiv ResourceScatterMax ResourceScatterMin ResourceScatterMul ResourceScatterSub
        ResourceScatterUpdate ResourceScatterNdAdd ResourceScatterNdSub ResourceScatterNdUpdate ResourceApplyAdam
        ResourceApplyGradientDescent ResourceApplyAdadelta ResourceSparseApplyAdadelta ResourceApplyAdagrad
        ResourceSparseApplyAdagrad ResourceApplyAdagradDA ResourceSparseApplyAdagradDA ResourceApplyCenteredRMSProp
        ResourceSparseApplyCenteredRMSProp ResourceApplyFtrl ResourceSparseApplyFtrl ResourceApplyFtrlV2
        ResourceSparseApplyFtrlV2 ResourceApplyMomentum ResourceSparseApplyMomentum ResourceApplyProximalAdagrad
        ResourceSparseApplyProximalAdagrad ResourceApplyProximalGradientDescent
        ResourceSparseApplyProximalGradientDescent ResourceApplyRMSProp ResourceSparseApplyRMSProp
    """,
    "they read and write files: test_image_codec.py": """
        DecodeBmp DecodeGif DecodeImage DecodeJpeg DecodePng EncodeJpeg EncodePng
    """,
    "made from its attribute: tests/graph, and by every row here": "Const",
    "the signs of its factors are LAPACK's choice: test_linalg checks what they must satisfy": "Qr Svd",
    "has no outputs: test_check.py": "Assert",
    "its kernel asks its context how often it has printed: test_check.py": "Print",
    "its numbers are random: test_extras.py, tests/golden/programs/extras.py": "FixedUnigramCandidateSampler",
    "their values are serialized protos: test_summary.py reads them": """
        HistogramSummary MergeSummary ScalarSummary TensorSummary TensorSummaryV2
    """,
    "tasks feed and fetch in their place: tests/distributed": "_Send _Recv _HostSend _HostRecv",
    "they run as part of a loop only: tests/graph/test_while_loop.py": """
        Enter RefEnter Exit RefExit NextIteration RefNextIteration LoopCond
    """,
    "a stack is a resource: test_stack.py, and the gradients in tests/graph/test_while_loop.py": """
        StackV2 StackPushV2 StackPopV2
    """,
    "a TensorArray is a resource: test_tensor_array.py": """
        TensorArrayV3 TensorArrayGradV3 TensorArrayReadV3 TensorArrayWriteV3 TensorArrayGatherV3 TensorArrayScatterV3
        TensorArrayConcatV3 TensorArraySplitV3 TensorArraySizeV3 TensorArrayCloseV3
    """,
    "a queue is a resource: test_queue.py, test_queue_resource.py": """
        FIFOQueueV2 PaddingFIFOQueueV2 PriorityQueueV2 QueueCloseV2 QueueDequeueV2 QueueDequeueManyV2 QueueDequeueUpToV2
        QueueEnqueueV2 QueueEnqueueManyV2 QueueIsClosedV2 QueueSizeV2 RandomShuffleQueueV2
    """,
    "a reader is a resource that reads files: test_readers.py": """
        FixedLengthRecordReaderV2 IdentityReaderV2 ReaderNumRecordsProducedV2 ReaderNumWorkUnitsCompletedV2 ReaderReadV2
        ReaderReadUpToV2 ReaderResetV2 TFRecordReaderV2 TextLineReaderV2 WholeFileReaderV2
    """,
    "about files: test_files.py": "MatchingFiles ReadFile WriteFile",
    "an accumulator is a resource: test_accumulator.py": """
        ConditionalAccumulator ResourceConditionalAccumulator SparseConditionalAccumulator AccumulatorApplyGradient
        ResourceAccumulatorApplyGradient SparseAccumulatorApplyGradient AccumulatorTakeGradient
        ResourceAccumulatorTakeGradient SparseAccumulatorTakeGradient AccumulatorNumAccumulated
        ResourceAccumulatorNumAccumulated AccumulatorSetGlobalStep ResourceAccumulatorSetGlobalStep
    """,
    "every run gives other values: test_candidate_sampling.py, and TensorFlow's in tests/golden/programs/candidates.py": """
        UniformCandidateSampler LogUniformCandidateSampler LearnedUnigramCandidateSampler
    """,
    "what they compute is a Python function's business: test_py_func.py": "PyFunc PyFuncStateless",
    "feeds have tests in tests/runtime, and every row here feeds some": "Placeholder",
    "every run gives other values: recorded ones in test_random.py": """
        Multinomial RandomGamma RandomPoisson RandomPoissonV2 RandomShuffle RandomStandardNormal RandomUniform
        RandomUniformInt TruncatedNormal
    """,
    "the reference is TensorFlow: recorded values in test_random.py and tests/golden/programs/random_stateless.py": """
        StatelessMultinomial StatelessRandomGetKeyCounter StatelessRandomNormal StatelessRandomNormalV2
        StatelessRandomUniform StatelessRandomUniformFullInt StatelessRandomUniformFullIntV2 StatelessRandomUniformIntV2
        StatelessRandomUniformV2
    """,
    "works on a variable, not on values alone: tables in test_state.py": """
        Assign AssignAdd AssignSub CountUpTo IsVariableInitialized ScatterAdd ScatterDiv ScatterMax ScatterMin
        ScatterMul ScatterNdAdd ScatterNdSub ScatterNdUpdate ScatterSub ScatterUpdate StridedSliceAssign Variable
        VariableV2
    """,
    "a feed has to take its place: test_feeds.py": "PlaceholderV2",
    "about what runs, not about values: test_control.py": """
        ControlTrigger Merge NoOp RefIdentity RefMerge RefSwitch Switch
    """,
    "their results are files that have to be decoded: test_summary_media.py": "AudioSummaryV2 ImageSummary",
    "about files and their names: test_save.py": "MergeV2Checkpoints RestoreV2 SaveV2 ShardedFilename",
    "works on variables: test_training.py, and tests/train/test_trajectories.py with TensorFlow's values": """
        ApplyAdadelta SparseApplyAdadelta ApplyAdagrad SparseApplyAdagrad ApplyAdagradDA SparseApplyAdagradDA ApplyAdam
        ApplyCenteredRMSProp SparseApplyCenteredRMSProp ApplyFtrl SparseApplyFtrl ApplyFtrlV2 SparseApplyFtrlV2
        ApplyGradientDescent ApplyMomentum SparseApplyMomentum ApplyProximalAdagrad SparseApplyProximalAdagrad
        ApplyProximalGradientDescent SparseApplyProximalGradientDescent ApplyRMSProp SparseApplyRMSProp
    """,
}

EXEMPT: dict[str, str] = {op: reason for reason, ops in _BY_REASON.items() for op in ops.split()}
