"""Ops that few programs use, and the modules that define them when one of them is first asked for."""

from __future__ import annotations

from tfexp.core.op import define_on_first_use

_IMAGES = {
    "audio_ops": """
    DecodeWav EncodeWav
    """,
    "image_boxes_ops": """
    DrawBoundingBoxes DrawBoundingBoxesV2 NonMaxSuppression NonMaxSuppressionV2 NonMaxSuppressionV3
    NonMaxSuppressionV4 NonMaxSuppressionV5 NonMaxSuppressionWithOverlaps
    """,
    "image_codec": """
    DecodePng DecodeJpeg DecodeAndCropJpeg DecodeGif DecodeBmp DecodeImage ExtractJpegShape EncodePng EncodeJpeg
    EncodeJpegVariableQuality
    """,
    "image_color_ops": """
    RGBToHSV HSVToRGB AdjustContrastv2 AdjustHue AdjustSaturation
    """,
    "image_crop_ops": """
    CropAndResize CropAndResizeGradImage CropAndResizeGradBoxes ExtractGlimpse
    """,
    "image_distort": """
    SampleDistortedBoundingBox SampleDistortedBoundingBoxV2
    """,
    "image_patches": """
    ExtractImagePatches ExtractVolumePatches
    """,
    "image_resize_ops": """
    ResizeBilinear ResizeBilinearGrad ResizeNearestNeighbor ResizeNearestNeighborGrad ResizeBicubic ResizeBicubicGrad
    ResizeArea
    """,
}

_DATASETS = {
    "dataset": """
    TensorDataset TensorSliceDataset RangeDataset
    """,
    "dataset_batch": """
    BatchDataset BatchDatasetV2 PaddedBatchDataset PaddedBatchDatasetV2 WindowDataset UnbatchDataset
    """,
    "dataset_choose": """
    RepeatDataset TakeDataset SkipDataset ShardDataset ConcatenateDataset ZipDataset
    """,
    "dataset_files": """
    TextLineDataset TFRecordDataset FixedLengthRecordDataset FixedLengthRecordDatasetV2 IgnoreErrorsDataset
    """,
    "dataset_interleave": """
    FlatMapDataset InterleaveDataset ParallelInterleaveDatasetV2 ParallelInterleaveDatasetV3
    ParallelInterleaveDatasetV4
    """,
    "dataset_map": """
    MapDataset ParallelMapDataset ParallelMapDatasetV2 FilterDataset TakeWhileDataset ScanDataset
    """,
    "dataset_prefetch": """
    PrefetchDataset CacheDataset
    """,
    "dataset_reduce": """
    ReduceDataset
    """,
    "dataset_shuffle": """
    ShuffleDataset
    """,
    "iterator": """
    IteratorV2 OneShotIterator MakeIterator IteratorGetNext IteratorGetNextSync IteratorToStringHandle
    IteratorFromStringHandleV2 DatasetToSingleElement
    """,
    "iterator_state": """
    SerializeIterator DeserializeIterator
    """,
}

_TABLES = {
    "lookup_ops": """
    HashTable HashTableV2 MutableHashTable MutableHashTableV2 MutableHashTableOfTensors MutableHashTableOfTensorsV2
    MutableDenseHashTable MutableDenseHashTableV2 LookupTableFind LookupTableFindV2 LookupTableSize LookupTableSizeV2
    LookupTableExport LookupTableExportV2 LookupTableInsert LookupTableInsertV2 LookupTableImport LookupTableImportV2
    LookupTableRemoveV2 InitializeTable InitializeTableV2 InitializeTableFromTextFile InitializeTableFromTextFileV2
    """,
}

_SPARSE = {
    "edit_distance": """
    EditDistance
    """,
    "sparse_cross": """
    SparseCross SparseCrossV2
    """,
    "sparse_map": """
    AddSparseToTensorsMap AddManySparseToTensorsMap TakeManySparseFromTensorsMap
    """,
    "sparse_serial": """
    SerializeSparse SerializeManySparse DeserializeSparse DeserializeManySparse
    """,
}

for _module, _names in (_IMAGES | _DATASETS | _TABLES | _SPARSE).items():
    define_on_first_use(f"tfexp.ops.{_module}", _names.split())
