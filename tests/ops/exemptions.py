"""Ops without a row in the op tables, each with the test that covers it and why a row would not do."""

from __future__ import annotations

_DATASETS = """
TensorDataset TensorSliceDataset RangeDataset RepeatDataset TakeDataset SkipDataset ShardDataset ConcatenateDataset
ZipDataset ShuffleDataset BatchDatasetV2 PaddedBatchDatasetV2 WindowDataset MapDataset ParallelMapDataset
ParallelMapDatasetV2 FilterDataset ScanDataset FlatMapDataset InterleaveDataset ParallelInterleaveDatasetV2
ParallelInterleaveDatasetV4 PrefetchDataset CacheDataset ReduceDataset TextLineDataset TFRecordDataset
FixedLengthRecordDatasetV2 IgnoreErrorsDataset IteratorV2 OneShotIterator MakeIterator IteratorGetNext
IteratorToStringHandle IteratorFromStringHandleV2 SerializeIterator DeserializeIterator CSVDataset CSVDatasetV2
GeneratorDataset LegacyParallelInterleaveDatasetV2 MapAndBatchDataset OptionsDataset ShuffleAndRepeatDataset
"""

_TREES = """
BoostedTreesBucketize BoostedTreesCalculateBestGainsPerFeature BoostedTreesCenterBias BoostedTreesCreateEnsemble
BoostedTreesCreateQuantileStreamResource BoostedTreesDeserializeEnsemble BoostedTreesEnsembleResourceHandleOp
BoostedTreesExampleDebugOutputs BoostedTreesGetEnsembleStates BoostedTreesMakeQuantileSummaries BoostedTreesMakeStatsSummary
BoostedTreesPredict BoostedTreesQuantileStreamResourceAddSummaries BoostedTreesQuantileStreamResourceDeserialize
BoostedTreesQuantileStreamResourceFlush BoostedTreesQuantileStreamResourceGetBucketBoundaries
BoostedTreesQuantileStreamResourceHandleOp BoostedTreesSerializeEnsemble BoostedTreesTrainingPredict
BoostedTreesUpdateEnsemble BoostedTreesUpdateEnsembleV2 BoostedTreesAggregateStats BoostedTreesCalculateBestFeatureSplit
BoostedTreesSparseAggregateStats BoostedTreesSparseCalculateBestFeatureSplit IsBoostedTreesEnsembleInitialized
IsBoostedTreesQuantileStreamResourceInitialized BoostedTreesFlushQuantileSummaries
CreateFertileStatsVariable CreateTreeVariable DecisionTreeResourceHandleOp FeatureUsageCounts FertileStatsDeserialize
FertileStatsIsInitializedOp FertileStatsResourceHandleOp FertileStatsSerialize FinalizeTree GrowTreeV4 ProcessInputV4
TraverseTreeV4 TreeDeserialize TreeIsInitializedOp TreePredictionsV4 TreeSerialize TreeSize UpdateModelV4
"""

_RULES = """
Adadelta Adagrad AdagradDA AdagradV2 CenteredRMSProp Ftrl FtrlV2 KerasMomentum Momentum ProximalAdagrad
ProximalGradientDescent RMSProp
"""
_ON_HANDLES = f"""
VarHandleOp ReadVariableOp AssignVariableOp AssignAddVariableOp AssignSubVariableOp VarIsInitializedOp VariableShape
DestroyResourceOp DisableCopyOnRead ResourceCountUpTo ResourceStridedSliceAssign ResourceGather ResourceGatherNd
ResourceScatterAdd ResourceScatterDiv ResourceScatterMax ResourceScatterMin ResourceScatterMul ResourceScatterSub
ResourceScatterUpdate ResourceScatterNdAdd ResourceScatterNdSub ResourceScatterNdUpdate
ResourceApplyAdam ResourceApplyAdamWithAmsgrad ResourceApplyAdaMax ResourceApplyAddSign ResourceApplyGradientDescent
ResourceApplyPowerSign
{" ".join(f"ResourceApply{rule} ResourceSparseApply{rule}" for rule in _RULES.split())}
"""


_PROTOS = ("DecodeProtoV2", "EncodeProto")
_QUANTIZED = """
QuantizedMatMul QuantizedConv2D QuantizedMul QuantizedAdd QuantizedBiasAdd QuantizedRelu QuantizedRelu6 QuantizedReluX
QuantizedMaxPool QuantizedAvgPool QuantizedConcat QuantizedReshape QuantizedInstanceNorm QuantizedResizeBilinear
QuantizedBatchNormWithGlobalNormalization Requantize RequantizationRange QuantizeDownAndShrinkRange
"""

_OLDER_LINALG = """
BatchCholesky BatchMatrixInverse BatchMatrixDeterminant BatchMatrixSolve BatchMatrixTriangularSolve BatchMatrixDiag
BatchMatrixDiagPart BatchMatrixSetDiag BatchMatrixBandPart BatchMatrixSolveLs BatchCholeskyGrad SelfAdjointEig
BatchSelfAdjointEig BatchSelfAdjointEigV2 BatchSvd
"""

EXEMPT: dict[str, str] = {
    **dict.fromkeys(_OLDER_LINALG.split(), "they come in GraphDefs of older versions: test_linalg_older.py"),
    **dict.fromkeys(
        ("CollectiveReduce", "CollectiveGather", "CollectiveBcastSend", "CollectiveBcastRecv"),
        "they need each other: test_collective.py",
    ),
    **dict.fromkeys(_TREES.split(), "they work on trees: test_boosted_trees.py, tests/estimator/test_older_estimators.py"),
    "SdcaShrinkL1": "it takes variables: test_sdca.py",
    "For": "its body is a function: test_for_loop.py",
    **dict.fromkeys(("GenerateVocabRemapping", "LoadAndRemapMatrix"), "they read files: test_remapping.py"),
    **dict.fromkeys(_PROTOS, "they have a type's description: test_proto.py, tests/golden/programs/protos.py"),
    **dict.fromkeys(
        _QUANTIZED.split(), "its integers have a quantised type: test_quantized.py, tests/golden/programs/quantized.py"
    ),
    **dict.fromkeys(
        ("SerializeSparse", "SerializeManySparse", "DeserializeSparse", "DeserializeManySparse"),
        "they take and give serialized protos: test_sparse_stored.py, tests/golden/programs/sparse_stored.py",
    ),
    **dict.fromkeys(
        ("AddSparseToTensorsMap", "AddManySparseToTensorsMap", "TakeManySparseFromTensorsMap"),
        "their map is a resource: test_sparse_stored.py, tests/golden/programs/sparse_stored.py",
    ),
    **dict.fromkeys(
        _DATASETS.split(), "data sets and iterators are resources: tests/data, tests/golden/programs/datasets*.py"
    ),
    **dict.fromkeys(
        ("SampleDistortedBoundingBox", "SampleDistortedBoundingBoxV2"),
        "its numbers are random: test_image_color.py, and TensorFlow's numbers in tests/golden/programs/images.py",
    ),
    **dict.fromkeys(
        _ON_HANDLES.split(),
        "they work on the handle of a variable: test_resource_variables.py, tests/golden/programs/resource_variables.py",
    ),
    **dict.fromkeys(
    ),
    **dict.fromkeys(
        ("MutexV2", "MutexLock", "ConsumeMutexLock"),
        "they wait for each other: test_critical_section.py, tests/golden/programs/critical_sections.py",
    ),
    **dict.fromkeys(
        (
            *("Stage", "Unstage", "StagePeek", "StageSize", "StageClear"),
            *(f"{kind}Map{what}" for kind in ("", "Ordered") for what in ("Stage", "Unstage", "UnstageNoKey", "Peek")),
            *(f"{kind}Map{what}" for kind in ("", "Ordered") for what in ("Size", "IncompleteSize", "Clear")),
        ),
        "an area is a resource: test_staging.py",
    ),
    "EncodeWav": "it writes a file: test_image_color.py",
    **dict.fromkeys(
        (
            *("DecodeBmp", "DecodeGif", "DecodeImage", "DecodeJpeg", "DecodeAndCropJpeg", "DecodePng"),
            *("EncodeJpeg", "EncodeJpegVariableQuality", "EncodePng", "ExtractJpegShape"),
        ),
        "they read and write files: test_image_codec.py",
    ),
    "CrossReplicaSum": "it has no kernel: tests/estimator/test_tpu.py",
    **dict.fromkeys(
        (
            *("TPUReplicateMetadata", "TPUReplicatedInput", "TPUReplicatedOutput", "TPUCompilationResult"),
            *("ConfigureDistributedTPU", "ShutdownDistributedTPU"),
        ),
        "they have no kernels: test_tpu_computations.py, tests/golden/programs/tpu.py",
    ),
    "Const": "made from its attribute: tests/graph, and by every row here",
    "Qr": "the signs of its factors are LAPACK's choice: test_linalg checks what they must satisfy",
    "Svd": "the signs of its factors are LAPACK's choice: test_linalg checks what they must satisfy",
    "SelfAdjointEigV2": "the signs of its vectors are LAPACK's choice: test_linalg checks what they must satisfy",
    **dict.fromkeys(("Assert", "Print"), "they print or fail instead of computing: test_check.py"),
    **dict.fromkeys(
        ("StringNGrams", "UnicodeDecode", "UnicodeDecodeWithOffsets", "UnicodeEncode", "UnicodeTranscode"),
        "their functions give ragged rows: tests/ragged_tensors/test_strings.py",
    ),
    "Dequantize": "quantised numbers cannot be fed as such: test_quantize.py, tests/golden/programs/quantization.py",
    "Fact": "it has no inputs, and says one thing: test_extras.py",
    "PrintV2": "it prints: test_extras.py",
    "Timestamp": "another number at each run: test_extras.py",
    "FixedUnigramCandidateSampler": "its numbers are random: test_extras.py, tests/golden/programs/extras.py",
    **dict.fromkeys(
        ("HistogramSummary", "MergeSummary", "ScalarSummary", "TensorSummary", "TensorSummaryV2"),
        "their values are serialized protos: test_summary.py reads them",
    ),
    **dict.fromkeys(("_Send", "_Recv", "_HostSend", "_HostRecv"), "tasks feed and fetch in their place: tests/distributed"),
    **dict.fromkeys(
        ("Enter", "RefEnter", "Exit", "RefExit", "NextIteration", "RefNextIteration", "LoopCond"),
        "they run as part of a loop only: tests/graph/test_while_loop.py",
    ),
    **dict.fromkeys(
        [f"Stack{what}{form}" for what in ("", "Push", "Pop", "Close") for form in ("", "V2")],
        "a stack is a resource: test_stack.py, and the gradients in tests/graph/test_while_loop.py",
    ),
    **dict.fromkeys(
        [
            f"TensorArray{what}V3"
            for what in ("", "Grad", "Read", "Write", "Gather", "Scatter", "Concat", "Split", "Size", "Close")
        ],
        "a TensorArray is a resource: test_tensor_array.py",
    ),
    **dict.fromkeys(
        (
            f"{op}V2"
            for op in (
                "FIFOQueue",
                "PaddingFIFOQueue",
                "PriorityQueue",
                "QueueClose",
                "QueueDequeue",
                "QueueDequeueMany",
                "QueueDequeueUpTo",
                "QueueEnqueue",
                "QueueEnqueueMany",
                "QueueIsClosed",
                "QueueSize",
                "RandomShuffleQueue",
            )
        ),
        "a queue is a resource: test_queue.py, test_queue_resource.py",
    ),
    **dict.fromkeys(
        (
            f"{op}V2"
            for op in (
                "FixedLengthRecordReader",
                "IdentityReader",
                "ReaderNumRecordsProduced",
                "ReaderNumWorkUnitsCompleted",
                "ReaderRead",
                "ReaderReadUpTo",
                "ReaderReset",
                "TFRecordReader",
                "TextLineReader",
                "WholeFileReader",
            )
        ),
        "a reader is a resource that reads files: test_readers.py",
    ),
    **dict.fromkeys(("MatchingFiles", "ReadFile", "WriteFile"), "about files: test_files.py"),
    **dict.fromkeys(
        (
            *("ConditionalAccumulator", "ResourceConditionalAccumulator", "SparseConditionalAccumulator"),
            *("AccumulatorApplyGradient", "ResourceAccumulatorApplyGradient", "SparseAccumulatorApplyGradient"),
            *("AccumulatorTakeGradient", "ResourceAccumulatorTakeGradient", "SparseAccumulatorTakeGradient"),
            *("AccumulatorNumAccumulated", "ResourceAccumulatorNumAccumulated"),
            *("AccumulatorSetGlobalStep", "ResourceAccumulatorSetGlobalStep"),
        ),
        "an accumulator is a resource: test_accumulator.py",
    ),
    **dict.fromkeys(
        (f"{kind}CandidateSampler" for kind in ("Uniform", "LogUniform", "LearnedUnigram", "ThreadUnsafeUnigram", "All")),
        "every run gives other values: test_candidate_sampling.py, and TensorFlow's in tests/golden/programs/candidates.py",
    ),
    **dict.fromkeys(
        (
            *("RngReadAndSkip", "RngSkip", "StatefulStandardNormalV2", "StatefulTruncatedNormal", "StatefulUniform"),
            *("StatefulUniformFullInt", "StatefulUniformInt", "StatefulRandomBinomial"),
        ),
        "they move a variable on: test_random_generator.py, tests/golden/programs/random_stateless.py",
    ),
    "NonDeterministicInts": "the system draws them: test_random_generator.py",
    **dict.fromkeys(
        ("PyFunc", "PyFuncStateless", "EagerPyFunc"), "what they compute is a Python function's business: test_py_func.py"
    ),
    "Placeholder": "feeds have tests in tests/runtime, and every row here feeds some",
    # tests/ops/test_random.py compares three runs of each with TensorFlow's, tests/golden/programs/random*.py their shapes.
    **dict.fromkeys(
        (
            "Multinomial",
            "RandomGamma",
            "RandomPoisson",
            "RandomPoissonV2",
            "RandomShuffle",
            "RandomStandardNormal",
            "RandomUniform",
            "RandomUniformInt",
            "ParameterizedTruncatedNormal",
            "TruncatedNormal",
        ),
        "every run gives other values: recorded ones in test_random.py",
    ),
    **dict.fromkeys(
        (
            "StatelessMultinomial",
            "StatelessRandomGetKeyCounter",
            "StatelessRandomNormal",
            "StatelessRandomNormalV2",
            "StatelessRandomUniform",
            "StatelessRandomUniformFullInt",
            "StatelessRandomUniformFullIntV2",
            "StatelessRandomUniformInt",
            "StatelessRandomUniformIntV2",
            "StatelessRandomUniformV2",
            "StatelessTruncatedNormal",
            "StatelessTruncatedNormalV2",
        ),
        "the reference is TensorFlow: recorded values in test_random.py and tests/golden/programs/random_stateless.py",
    ),
    **dict.fromkeys(
        (
            "Assign",
            "AssignAdd",
            "AssignSub",
            "CountUpTo",
            "DestroyTemporaryVariable",
            "IsVariableInitialized",
            "ScatterAdd",
            "ScatterDiv",
            "ScatterMax",
            "ScatterMin",
            "ScatterMul",
            "ScatterNdAdd",
            "ScatterNdSub",
            "ScatterNdUpdate",
            "ScatterSub",
            "ScatterUpdate",
            "StridedSliceAssign",
            "TemporaryVariable",
            "Variable",
            "VariableV2",
        ),
        "works on a variable, not on values alone: tables in test_state.py",
    ),
    **dict.fromkeys(
        ("RefSelect", "RandomCrop", "PlaceholderV2", "ImmutableConst", "AudioSummary"),
        "references, random numbers, feeds, files: test_older.py",
    ),
    **dict.fromkeys(
        ("ControlTrigger", "Merge", "NoOp", "RefIdentity", "RefMerge", "RefSwitch", "Switch"),
        "about what runs, not about values: test_control.py",
    ),
    "Assert": "has no outputs: test_check.py",
    **dict.fromkeys(
        (
            "Barrier",
            "BarrierClose",
            "BarrierIncompleteSize",
            "BarrierInsertMany",
            "BarrierReadySize",
            "BarrierTakeMany",
        ),
        "about who waits for whom: test_barrier.py",
    ),
    "Print": "its kernel asks its context how often it has printed: test_check.py",
    **dict.fromkeys(
        ("DebugGradientIdentity", "DebugGradientRefIdentity"),
        "about the gradient, which a debugger is told: tests/debug/test_gradients_debugger.py",
    ),
    "PreventGradient": "its gradient is an error, with a text of the node's own: test_array.py",
    "ParallelConcat": "wants fully defined shapes, which a row forgets: test_array_partition.py",
    **dict.fromkeys(
        ("AudioSummaryV2", "ImageSummary"), "their results are files that have to be decoded: test_summary_media.py"
    ),
    **dict.fromkeys(
        (
            *("SummaryWriter", "CreateSummaryFileWriter", "FlushSummaryWriter", "CloseSummaryWriter", "ImportEvent"),
            *(f"Write{what}Summary" for what in ("", "Audio", "Graph", "Histogram", "Image", "RawProto", "Scalar")),
        ),
        "they write files, with a writer that is a resource: test_summary_writing.py",
    ),
    **dict.fromkeys(("Batch", "BatchFunction", "Unbatch", "UnbatchGrad"), "of rows of concurrent steps: test_batching.py"),
    **dict.fromkeys(
        [
            "MergeV2Checkpoints",
            "RestoreV2",
            "SaveV2",
            "ShardedFilename",
        ],
        "about files and their names: test_save.py",
    ),
    **dict.fromkeys(
        (
            f"{kind}Apply{rule}"
            for rule, kinds in {
                "Adadelta": ("", "Sparse"),
                "Adagrad": ("", "Sparse"),
                "AdagradDA": ("", "Sparse"),
                "AdagradV2": ("", "Sparse"),
                "AdaMax": ("",),
                "Adam": ("",),
                "AddSign": ("",),
                "CenteredRMSProp": ("", "Sparse"),
                "Ftrl": ("", "Sparse"),
                "FtrlV2": ("", "Sparse"),
                "GradientDescent": ("",),
                "Momentum": ("", "Sparse"),
                "PowerSign": ("",),
                "ProximalAdagrad": ("", "Sparse"),
                "ProximalGradientDescent": ("", "Sparse"),
                "RMSProp": ("", "Sparse"),
            }.items()
            for kind in kinds
        ),
        "works on variables: test_training.py, and tests/train/test_trajectories.py with TensorFlow's values",
    ),
}
