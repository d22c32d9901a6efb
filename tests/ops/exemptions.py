"""Ops without a row in the op tables, each with the test that covers it and why a row would not do."""

from __future__ import annotations

# reason: ops
_BY_REASON = {
    "they need each other: test_collective.py": """
        CollectiveReduce CollectiveGather CollectiveBcastSend CollectiveBcastRecv
    """,
    "it calls a function: tests/stand_ins/test_control_flow_modules.py": "RemoteCall",
    "they take and give serialized protos: test_sparse_stored.py, tests/golden/programs/sparse_stored.py": """
        SerializeSparse SerializeManySparse DeserializeSparse
    """,
    "their map is a resource: test_sparse_stored.py, tests/golden/programs/sparse_stored.py": """
        AddSparseToTensorsMap AddManySparseToTensorsMap TakeManySparseFromTensorsMap
    """,
    "a table is a resource: test_lookup.py, tests/golden/programs/tables.py": """
        HashTable HashTableV2 MutableHashTable MutableHashTableV2 MutableHashTableOfTensors
        MutableHashTableOfTensorsV2 MutableDenseHashTable MutableDenseHashTableV2 LookupTableFind LookupTableFindV2
        LookupTableSize LookupTableSizeV2 LookupTableExport LookupTableExportV2 LookupTableInsert LookupTableInsertV2
        LookupTableImport LookupTableImportV2 LookupTableRemoveV2 InitializeTable InitializeTableV2
        InitializeTableFromTextFile InitializeTableFromTextFileV2
    """,
    "data sets and iterators are resources: tests/data, tests/golden/programs/datasets*.py": """
        TensorDataset TensorSliceDataset RangeDataset RepeatDataset TakeDataset SkipDataset ShardDataset
        ConcatenateDataset ZipDataset ShuffleDataset BatchDataset BatchDatasetV2 PaddedBatchDataset
        PaddedBatchDatasetV2 WindowDataset UnbatchDataset MapDataset ParallelMapDataset ParallelMapDatasetV2
        FilterDataset TakeWhileDataset ScanDataset FlatMapDataset InterleaveDataset ParallelInterleaveDatasetV2
        ParallelInterleaveDatasetV3 ParallelInterleaveDatasetV4 PrefetchDataset CacheDataset ReduceDataset
        TextLineDataset TFRecordDataset FixedLengthRecordDataset FixedLengthRecordDatasetV2 IgnoreErrorsDataset
        IteratorV2 OneShotIterator MakeIterator IteratorGetNext IteratorGetNextSync IteratorToStringHandle
        IteratorFromStringHandleV2 DatasetToSingleElement SerializeIterator DeserializeIterator CSVDataset
        CSVDatasetV2 DatasetCardinality DatasetToTFRecord DenseToSparseBatchDataset DirectedInterleaveDataset
        ExperimentalGroupByReducerDataset GeneratorDataset GroupByReducerDataset GroupByWindowDataset
        LegacyParallelInterleaveDatasetV2 MapAndBatchDataset OptionsDataset ParseExampleDataset ParseExampleDatasetV2
        RandomDataset RewriteDataset ShuffleAndRepeatDataset UniqueDataset WrapDatasetVariant UnwrapDatasetVariant
        SparseTensorSliceDataset SlidingWindowDataset MatchingFilesDataset BytesProducedStatsDataset
        LatencyStatsDataset SetStatsAggregatorDataset StatsAggregatorHandle StatsAggregatorSummary Iterator
        IteratorFromStringHandle
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
    "a list is a variant: tests/golden/programs/tensor_lists.py, tests/graph/test_imported_graphs.py": """
        EmptyTensorList TensorListConcat TensorListConcatLists TensorListConcatV2 TensorListElementShape
        TensorListFromTensor TensorListGather TensorListGetItem TensorListLength TensorListPopBack TensorListPushBack
        TensorListPushBackBatch TensorListReserve TensorListResize TensorListScatter TensorListScatterIntoExistingList
        TensorListScatterV2 TensorListSetItem TensorListSplit TensorListStack
    """,
    "between them are variants: tests/ragged_tensors/test_variants.py, tests/data/test_kinds.py": """
        RaggedTensorToVariant RaggedTensorFromVariant
    """,
    "the tensors are the session's: tests/runtime/test_session_handles.py": """
        GetSessionHandle GetSessionTensor DeleteSessionTensor
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
    "a TensorArray is a resource: test_tensor_array.py, test_tensor_array_older.py": """
        TensorArray TensorArrayV2 TensorArrayV3 TensorArrayGrad TensorArrayGradV2 TensorArrayGradV3 TensorArrayRead
        TensorArrayReadV2 TensorArrayReadV3 TensorArrayWrite TensorArrayWriteV2 TensorArrayWriteV3 TensorArrayGather
        TensorArrayGatherV2 TensorArrayGatherV3 TensorArrayScatter TensorArrayScatterV2 TensorArrayScatterV3
        TensorArrayConcat TensorArrayConcatV2 TensorArrayConcatV3 TensorArraySplit TensorArraySplitV2
        TensorArraySplitV3 TensorArraySize TensorArraySizeV2 TensorArraySizeV3 TensorArrayClose TensorArrayCloseV2
        TensorArrayCloseV3
    """,
    "a TensorArray lives for a step: test_tensor_array_older.py": "TensorArrayPack TensorArrayUnpack",
    "a queue is a resource: test_queue.py, test_queue_resource.py": """
        FIFOQueue PaddingFIFOQueue PriorityQueue QueueClose QueueDequeue QueueDequeueMany QueueDequeueUpTo
        QueueEnqueue QueueEnqueueMany QueueIsClosed QueueSize RandomShuffleQueue FIFOQueueV2 PaddingFIFOQueueV2
        PriorityQueueV2 QueueCloseV2 QueueDequeueV2 QueueDequeueManyV2 QueueDequeueUpToV2 QueueEnqueueV2
        QueueEnqueueManyV2 QueueIsClosedV2 QueueSizeV2 RandomShuffleQueueV2
    """,
    "a reader is a resource that reads files: test_readers.py": """
        FixedLengthRecordReader IdentityReader ReaderNumRecordsProduced ReaderNumWorkUnitsCompleted ReaderRead
        ReaderReadUpTo ReaderReset ReaderRestoreState ReaderSerializeState TFRecordReader TextLineReader
        WholeFileReader FixedLengthRecordReaderV2 IdentityReaderV2 ReaderNumRecordsProducedV2
        ReaderNumWorkUnitsCompletedV2 ReaderReadV2 ReaderReadUpToV2 ReaderResetV2 ReaderRestoreStateV2
        ReaderSerializeStateV2 TFRecordReaderV2 TextLineReaderV2 WholeFileReaderV2 LMDBReader
    """,
    "hands a queue on: test_readers.py": "FakeQueue",
    "about files: test_files.py": "MatchingFiles ReadFile WriteFile",
    "stands for a value that nobody looks at: tests/functions/test_control_flow.py": "FakeParam",
    "the planner puts functions in their place: test_calls.py, and TensorFlow's in tests/graph/test_imported_graphs.py": """
        PartitionedCall StatefulPartitionedCall If StatelessIf Case StatelessCase While StatelessWhile
        SymbolicGradient
    """,
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
        StatelessRandomUniform StatelessRandomUniformFullInt StatelessRandomUniformFullIntV2
        StatelessRandomUniformIntV2 StatelessRandomUniformV2
    """,
    "works on a variable, not on values alone: tables in test_state.py": """
        Assign AssignAdd AssignSub CountUpTo IsVariableInitialized ScatterAdd ScatterDiv ScatterMax ScatterMin
        ScatterMul ScatterNdAdd ScatterNdSub ScatterNdUpdate ScatterSub ScatterUpdate StridedSliceAssign Variable
        VariableV2
    """,
    "references, random numbers, feeds, files: test_older.py": "RefSelect PlaceholderV2 AudioSummary",
    "about what runs, not about values: test_control.py": """
        ControlTrigger Merge NoOp RefIdentity RefMerge RefSwitch Switch
    """,
    "about the gradient, which a debugger is told: tests/debug/test_gradients_debugger.py": """
        DebugGradientRefIdentity
    """,
    "their results are files that have to be decoded: test_summary_media.py": "AudioSummaryV2 ImageSummary",
    "they write files, with a writer that is a resource: test_summary_writing.py": """
        SummaryWriter CreateSummaryFileWriter FlushSummaryWriter CloseSummaryWriter ImportEvent
    """,
    "about files and their names: test_save.py": """
        MergeV2Checkpoints Restore RestoreSlice RestoreV2 Save SaveSlices SaveV2 ShardedFilename ShardedFilespec
    """,
    "works on variables: test_training.py, and tests/train/test_trajectories.py with TensorFlow's values": """
        ApplyAdadelta SparseApplyAdadelta ApplyAdagrad SparseApplyAdagrad ApplyAdagradDA SparseApplyAdagradDA
        ApplyAdam ApplyCenteredRMSProp SparseApplyCenteredRMSProp ApplyFtrl SparseApplyFtrl ApplyFtrlV2
        SparseApplyFtrlV2 ApplyGradientDescent ApplyMomentum SparseApplyMomentum ApplyProximalAdagrad
        SparseApplyProximalAdagrad ApplyProximalGradientDescent SparseApplyProximalGradientDescent ApplyRMSProp
        SparseApplyRMSProp
    """,
}

EXEMPT: dict[str, str] = {op: reason for reason, ops in _BY_REASON.items() for op in ops.split()}
