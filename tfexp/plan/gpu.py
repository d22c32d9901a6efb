"""What a GPU can run: the ops and types for which TensorFlow has GPU kernels.

A GPU that only stands in for one (`ConfigProto.device_count`) computes on the CPU, but refuses what a GPU would refuse, so
that placements that work here work there. Source: the kernel registrations of TensorFlow 1.15, by family; chapter 12 of the
course for what becomes of an integer variable.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.op import Op, output_types

# Files, strings, queues, data sets, parsing, pictures in files, summaries: the CPU's business.
_ON_CPU_ONLY = re.compile(
    r".*Queue.*|.*Reader.*|.*Dataset.*|.*Iterator.*|.*Summary.*|.*Example.*|.*String.*|.*Regex.*|.*Sparse(?!Softmax|Apply|"
    r"SegmentSum|ToDense|TensorDenseMatMul).*|.*Set(Operation|Size)|.*Table.*|.*Accumulator.*|.*Sampler|(De|En)code.*|"
    r"Save.*|Restore.*|MergeV2Checkpoints|ShardedFilename|ReadFile|WriteFile|MatchingFiles|AsString|Substr|ReduceJoin|"
    r"ParseTensor|SerializeTensor|UnsortedSegmentJoin|Unique.*|ListDiff|InvertPermutation|RandomShuffle|RandomGamma.*|"
    r"RandomPoisson.*|NonMaxSuppression.*|SampleDistortedBoundingBox.*|DrawBoundingBoxes.*|CountUpTo|Py(Func.*)|"
    r"SegmentM.*|SegmentProd|Edit.*|CTC.*|Fractional.*|Print|Qr|Lu|Polygamma|Zeta|Igamma.*|Betainc|Where3D|InTopK"
)
# State: of integers only int64 has kernels, and variables only.
_STATE = re.compile(r"Variable(V2)?|TemporaryVariable|Assign.*|Scatter.*|(Resource|Sparse)?Apply.*|IsVariableInitialized")
_SMALL_INTEGERS = frozenset(
    {dtypes.int8, dtypes.int16, dtypes.int32, dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64, dtypes.bool}
)


def has_gpu_kernel(op: Op, attrs: Mapping[str, Any]) -> bool:
    """Whether a node of `op` with these attributes can be on a GPU."""
    if "GPU" in op.kernels:
        return True
    if "CPU" not in op.kernels or _ON_CPU_ONLY.fullmatch(op.name):
        return False
    types = {dtype.base_dtype for dtype in (*output_types(op, dict(attrs)), *_type_attrs(op, attrs))}
    if dtypes.string in types:
        return False
    return not (_STATE.fullmatch(op.name) and types & _SMALL_INTEGERS)


def _type_attrs(op: Op, attrs: Mapping[str, Any]) -> list[DType]:
    """The types of the inputs, as far as they are attributes; positions are of no importance (`Tindices`)."""
    names = {arg.type_attr for arg in op.inputs if arg.type_attr is not None}
    positions = {"Tindices", "Tidx", "Tshape", "Index", "Tpaddings", "Tperm"}
    return [attrs[name] for name in names - positions if isinstance(attrs.get(name), DType)]
