"""What is in a TensorFlow Lite file: its tables with their fields, the ops by number, the names of what is counted.

A file is a FlatBuffer, in which a field is found by its place in its table. Each line below is a table and its fields in
that order, `name:type=default`; `[int32]` is a vector, `@16` the alignment of its elements, `-` a place that is not read.
Source: version 3 of TensorFlow Lite's schema, up to the ops of TF 1.15 and a few later ones.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

FILE_IDENTIFIER = b"TFL3"
VERSION = 3

# Types with names for their numbers.
ENUMS: dict[str, tuple[str, ...]] = {
    "TensorType": (
        *("FLOAT32", "FLOAT16", "INT32", "UINT8", "INT64", "STRING", "BOOL", "INT16", "COMPLEX64", "INT8"),
        "FLOAT64",
    ),
    "Padding": ("SAME", "VALID"),
    "Activation": ("NONE", "RELU", "RELU_N1_TO_1", "RELU6", "TANH", "SIGN_BIT"),
    "MirrorMode": ("REFLECT", "SYMMETRIC"),
    "LSTMKernel": ("FULL", "BASIC"),
    "WeightsFormat": ("DEFAULT", "SHUFFLED4x16INT8"),
}

_TABLES = """
Model version:uint32 operator_codes:[OperatorCode] subgraphs:[SubGraph] description:string buffers:[Buffer]
OperatorCode deprecated_builtin_code:int8 custom_code:string version:int32=1 builtin_code:int32
SubGraph tensors:[Tensor] inputs:[int32] outputs:[int32] operators:[Operator] name:string
Tensor shape:[int32] type:TensorType buffer:uint32 name:string quantization:QuantizationParameters is_variable:bool
QuantizationParameters min:[float32] max:[float32] scale:[float32] zero_point:[int64] - - quantized_dimension:int32
Operator opcode_index:uint32 inputs:[int32] outputs:[int32] - builtin_options:union custom_options:[uint8]
Buffer data:[uint8]@16

Conv2D padding:Padding stride_w:int32 stride_h:int32 activation:Activation dilation_w:int32=1 dilation_h:int32=1
DepthwiseConv2D padding:Padding stride_w:int32 stride_h:int32 depth_multiplier:int32 activation:Activation \
    dilation_w:int32=1 dilation_h:int32=1
Pool2D padding:Padding stride_w:int32 stride_h:int32 filter_width:int32 filter_height:int32 activation:Activation
FullyConnected activation:Activation weights_format:WeightsFormat keep_num_dims:bool asymmetric_quantize_inputs:bool
Softmax beta:float32
Concatenation axis:int32 activation:Activation
Add activation:Activation
L2Norm activation:Activation
LocalResponseNormalization radius:int32 bias:float32 alpha:float32 beta:float32
LSTM activation:Activation cell_clip:float32 proj_clip:float32 kernel_type:LSTMKernel
ResizeBilinear - - align_corners:bool half_pixel_centers:bool
Reshape new_shape:[int32]
SpaceToDepth block_size:int32
Mul activation:Activation
Gather axis:int32 batch_dims:int32
Reducer keep_dims:bool
Sub activation:Activation
Div activation:Activation
Squeeze squeeze_dims:[int32]
StridedSlice begin_mask:int32 end_mask:int32 ellipsis_mask:int32 new_axis_mask:int32 shrink_axis_mask:int32
Split num_splits:int32
Cast in_data_type:TensorType out_data_type:TensorType
ArgMax output_type:TensorType
TransposeConv padding:Padding stride_w:int32 stride_h:int32 activation:Activation
Shape out_type:TensorType
ArgMin output_type:TensorType
Pack values_count:int32 axis:int32
OneHot axis:int32
Unpack num:int32 axis:int32
ResizeNearestNeighbor align_corners:bool half_pixel_centers:bool
LeakyRelu alpha:float32
MirrorPad mode:MirrorMode
SplitV num_splits:int32
ReverseSequence seq_dim:int32 batch_dim:int32
DepthToSpace block_size:int32
BatchMatMul adj_x:bool adj_y:bool
"""

# The members of the union of options, by number from 1; an op without options has an empty table among them.
_OPTIONS = """
Conv2D DepthwiseConv2D ConcatEmbeddings LSHProjection Pool2D SVDF RNN FullyConnected Softmax Concatenation Add L2Norm
LocalResponseNormalization LSTM ResizeBilinear Call Reshape SkipGram SpaceToDepth EmbeddingLookupSparse Mul Pad Gather
BatchToSpaceND SpaceToBatchND Transpose Reducer Sub Div Squeeze SequenceRNN StridedSlice Exp TopKV2 Split LogSoftmax Cast
Dequantize MaximumMinimum ArgMax Less Neg PadV2 Greater GreaterEqual LessEqual Select Slice TransposeConv SparseToDense Tile
ExpandDims Equal NotEqual Shape Pow ArgMin FakeQuant Pack LogicalOr OneHot LogicalAnd LogicalNot Unpack FloorDiv Square
ZerosLike Fill BidirectionalSequenceLSTM BidirectionalSequenceRNN UnidirectionalSequenceLSTM FloorMod Range
ResizeNearestNeighbor LeakyRelu SquaredDifference MirrorPad Abs SplitV Unique ReverseV2 AddN GatherNd Cos Where Rank
ReverseSequence MatrixDiag Quantize MatrixSetDiag HardSwish If While DepthToSpace NonMaxSuppressionV4 NonMaxSuppressionV5
ScatterNd SelectV2 Densify SegmentSum BatchMatMul
"""

# The ops by number from 0, `NAME:options` where they have any.
_OPERATORS = """
ADD:Add AVERAGE_POOL_2D:Pool2D CONCATENATION:Concatenation CONV_2D:Conv2D DEPTHWISE_CONV_2D:DepthwiseConv2D
DEPTH_TO_SPACE:DepthToSpace DEQUANTIZE:Dequantize EMBEDDING_LOOKUP FLOOR FULLY_CONNECTED:FullyConnected HASHTABLE_LOOKUP
L2_NORMALIZATION:L2Norm L2_POOL_2D:Pool2D LOCAL_RESPONSE_NORMALIZATION:LocalResponseNormalization LOGISTIC LSH_PROJECTION
LSTM:LSTM MAX_POOL_2D:Pool2D MUL:Mul RELU RELU_N1_TO_1 RELU6 RESHAPE:Reshape RESIZE_BILINEAR:ResizeBilinear RNN
SOFTMAX:Softmax SPACE_TO_DEPTH:SpaceToDepth SVDF TANH CONCAT_EMBEDDINGS SKIP_GRAM CALL CUSTOM EMBEDDING_LOOKUP_SPARSE
PAD:Pad UNIDIRECTIONAL_SEQUENCE_RNN GATHER:Gather BATCH_TO_SPACE_ND:BatchToSpaceND SPACE_TO_BATCH_ND:SpaceToBatchND
TRANSPOSE:Transpose MEAN:Reducer SUB:Sub DIV:Div SQUEEZE:Squeeze UNIDIRECTIONAL_SEQUENCE_LSTM STRIDED_SLICE:StridedSlice
BIDIRECTIONAL_SEQUENCE_RNN EXP:Exp TOPK_V2:TopKV2 SPLIT:Split LOG_SOFTMAX:LogSoftmax DELEGATE BIDIRECTIONAL_SEQUENCE_LSTM
CAST:Cast PRELU MAXIMUM:MaximumMinimum ARG_MAX:ArgMax MINIMUM:MaximumMinimum LESS:Less NEG:Neg PADV2:PadV2 GREATER:Greater
GREATER_EQUAL:GreaterEqual LESS_EQUAL:LessEqual SELECT:Select SLICE:Slice SIN TRANSPOSE_CONV:TransposeConv
SPARSE_TO_DENSE:SparseToDense TILE:Tile EXPAND_DIMS:ExpandDims EQUAL:Equal NOT_EQUAL:NotEqual LOG SUM:Reducer SQRT RSQRT
SHAPE:Shape POW:Pow ARG_MIN:ArgMin FAKE_QUANT REDUCE_PROD:Reducer REDUCE_MAX:Reducer PACK:Pack LOGICAL_OR:LogicalOr
ONE_HOT:OneHot LOGICAL_AND:LogicalAnd LOGICAL_NOT:LogicalNot UNPACK:Unpack REDUCE_MIN:Reducer FLOOR_DIV:FloorDiv
REDUCE_ANY:Reducer SQUARE:Square ZEROS_LIKE:ZerosLike FILL:Fill FLOOR_MOD:FloorMod RANGE:Range
RESIZE_NEAREST_NEIGHBOR:ResizeNearestNeighbor LEAKY_RELU:LeakyRelu SQUARED_DIFFERENCE:SquaredDifference
MIRROR_PAD:MirrorPad ABS:Abs SPLIT_V:SplitV UNIQUE CEIL REVERSE_V2:ReverseV2 ADD_N:AddN GATHER_ND:GatherNd COS:Cos
WHERE:Where RANK:Rank ELU REVERSE_SEQUENCE:ReverseSequence MATRIX_DIAG:MatrixDiag QUANTIZE:Quantize
MATRIX_SET_DIAG:MatrixSetDiag ROUND HARD_SWISH:HardSwish IF WHILE NON_MAX_SUPPRESSION_V4 NON_MAX_SUPPRESSION_V5
SCATTER_ND:ScatterNd SELECT_V2:SelectV2 DENSIFY SEGMENT_SUM:SegmentSum BATCH_MATMUL:BatchMatMul
"""


@dataclass(frozen=True)
class Field:
    """One field: its place, what it holds (a number type, an enum, a table, `string` or `union`), and how."""

    place: int
    name: str
    kind: str
    is_vector: bool
    alignment: int
    default: Any


def _field(place: int, text: str) -> Field:
    found = re.fullmatch(r"(\w+):(\[?)(\w+)\]?(?:@(\d+))?(?:=(\d+))?", text)
    assert found is not None, text
    name, bracket, kind, alignment, default = found.groups()
    return Field(place, name, kind, bool(bracket), int(alignment or 1), int(default or 0))


def _table(line: str) -> tuple[str, tuple[Field, ...]]:
    name, *fields = line.split()
    return name, tuple(_field(place, text) for place, text in enumerate(fields) if text != "-")


OPTIONS: tuple[str, ...] = ("", *_OPTIONS.split())
TABLES: dict[str, tuple[Field, ...]] = {
    **dict.fromkeys(OPTIONS[1:], ()),
    **dict(map(_table, _TABLES.replace("\\\n", " ").strip().replace("\n\n", "\n").splitlines())),
}
# {op: its table of options, "" for none}, in the order of the ops' numbers
OPERATORS: dict[str, str] = {one.partition(":")[0]: one.partition(":")[2] for one in _OPERATORS.split()}
