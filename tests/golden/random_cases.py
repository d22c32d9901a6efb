"""The draws that are recorded from TensorFlow's random kernels, and how they are kept.

A case is one node: op, seeds, inputs, run three times in one session. Of tensors up to 127 elements all are kept, of larger
ones every 97th element and the last five, with a checksum of all bytes where they have to agree to the bit.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

VALUES = Path(__file__).parent / "random" / "values.npz"

RUNS = 3
SIZES = (0, 1, 3, 5, 127, 1021)
LARGE = 100003
FLOATS = ("float16", "bfloat16", "float32", "float64")

# Plain, more than 32 bits wide, negative.
SEEDS = ((87654321, 42), (123456789012345, 987654321098765), (-3, -7))

# The first uniform number of this stream is below 1e-7, in float (0) and in double: Box-Muller's corner.
TINY_UNIFORM_SEEDS = (5, 3083515)


@dataclass(frozen=True)
class Case:
    """One node. `inputs` and `attrs` by name, dtypes by name; `exact` where every bit has to agree.

    Ops without state have no `seeds`, but an input `seed`.
    """

    op: str
    seeds: tuple[int, int] | None
    inputs: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    attrs: dict[str, str] = field(default_factory=dict)
    exact: bool = True

    @property
    def key(self) -> str:
        parts = [self.op, *(f"{k}={v}" for k, v in self.attrs.items())]
        if self.seeds:
            parts.append(f"seeds={self.seeds[0]},{self.seeds[1]}")
        for name, value in self.inputs.items():
            text = ",".join(map(str, value.ravel().tolist())) if value.size <= 7 else f"{zlib.crc32(value.tobytes()):x}"
            parts.append(f"{name}:{value.dtype}{list(value.shape)}={text}")
        return " ".join(parts)


def _sized(op: str, dtype: str, size: int, seeds: tuple[int, int], exact: bool) -> Case:
    return Case(op, seeds, {"shape": np.array([size], np.int32)}, {"dtype": dtype}, exact)


def cases() -> Iterator[Case]:
    """Every case, in the order in which they are recorded."""
    for op, exact in (("RandomUniform", True), ("RandomStandardNormal", False), ("TruncatedNormal", False)):
        for dtype in FLOATS:
            yield from (_sized(op, dtype, size, SEEDS[0], exact) for size in SIZES)
            yield from (_sized(op, dtype, 13, seeds, exact) for seeds in SEEDS[1:])
        yield from (_sized(op, dtype, LARGE, SEEDS[1], exact) for dtype in ("float32", "float64"))
        yield Case(op, SEEDS[0], {"shape": np.array([2, 3, 5], np.int64)}, {"dtype": "float32"}, exact)
    for dtype in ("float32", "float64"):
        yield _sized("RandomStandardNormal", dtype, 5, TINY_UNIFORM_SEEDS, False)
    yield from _integers()
    yield from _shuffles()
    yield from _multinomials()
    yield from _gammas_and_poissons()
    yield from _stateless()


def _integers() -> Iterator[Case]:
    for dtype, low, high in (("int32", -7, 10**9), ("int64", -7, 10**17), ("int32", -(2**31), 2**31 - 1)):
        bounds = {"minval": np.array(low, dtype), "maxval": np.array(high, dtype)}
        for size in SIZES:
            yield Case("RandomUniformInt", SEEDS[0], {"shape": np.array([size], np.int32), **bounds})
        yield Case("RandomUniformInt", SEEDS[2], {"shape": np.array([LARGE], np.int32), **bounds})
    powers = {"minval": np.array(3, np.int64), "maxval": np.array(3 + 2**20, np.int64)}
    yield Case("RandomUniformInt", SEEDS[1], {"shape": np.array([3, 5], np.int64), **powers})


def _shuffles() -> Iterator[Case]:
    for size in (*SIZES, 2, 6, 9, 10):
        yield Case("RandomShuffle", SEEDS[0], {"value": np.arange(size, dtype=np.int32)})
    yield Case("RandomShuffle", SEEDS[1], {"value": np.arange(7 * 2 * 3, dtype=np.float32).reshape(7, 2, 3)})
    yield Case("RandomShuffle", SEEDS[2], {"value": np.array(5, np.int32)})


def _multinomials() -> Iterator[Case]:
    state = np.random.RandomState(11)
    for dtype in ("float32", "float64", "float16"):
        logits = (state.randn(3, 7) * 3).astype(dtype)
        for samples in (0, 1, 5, 127):
            inputs = {"logits": logits, "num_samples": np.array(samples, np.int32)}
            yield Case("Multinomial", SEEDS[0], inputs, {"output_dtype": "int64"})
    holes = np.array([[1, np.inf, 2], [-np.inf, 1, np.nan]], np.float32)
    inputs = {"logits": holes, "num_samples": np.array(13, np.int32)}
    yield Case("Multinomial", SEEDS[1], inputs, {"output_dtype": "int32"})


def _gammas_and_poissons() -> Iterator[Case]:
    for dtype in ("float16", "float32", "float64"):
        alpha = np.array([[0.3, 0.999, 1.0], [1.001, 2.5, 100.0]], dtype)
        for size in (0, 1, 5, 127):
            yield Case("RandomGamma", SEEDS[0], {"shape": np.array([size], np.int32), "alpha": alpha}, exact=False)
        edges = np.array([0.0, -1.0, np.nan, 2.0], dtype)
        yield Case("RandomGamma", SEEDS[1], {"shape": np.array([], np.int32), "alpha": edges}, exact=False)
    for rate_dtype, dtype in (("float32", "float32"), ("float64", "int64"), ("int32", "int32"), ("float16", "float16")):
        rate = np.array([0.0, 0.5, 3.0, 9.99, 10.0, 100.0, 1000.0]).astype(rate_dtype)
        for size in (0, 1, 5, 127):
            inputs = {"shape": np.array([size], np.int32), "rate": rate}
            yield Case("RandomPoissonV2", SEEDS[0], inputs, {"dtype": dtype})


def _stateless() -> Iterator[Case]:
    """TensorFlow 1.15's ops; those of TensorFlow 2 are in the golden program `random_stateless`."""
    size = np.array([13], np.int32)
    for seeds in ((0, 0), (1, -2), SEEDS[1]):
        inputs = {"shape": size, "seed": np.array(seeds, np.int64)}
        for dtype in FLOATS:
            yield Case("StatelessRandomUniform", None, inputs, {"dtype": dtype})
        for dtype in ("float32", "float64"):
            yield Case("StatelessRandomNormal", None, inputs, {"dtype": dtype}, exact=False)
        for dtype in ("int32", "int64", "uint32", "uint64"):
            yield Case("StatelessRandomUniformFullInt", None, inputs, {"dtype": dtype})


def kept(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The elements of a result that a recording holds, as a vector of a dtype that .npz knows (bfloat16 as float32)."""
    flat = values.reshape(-1)
    if flat.dtype.isbuiltin != 1:
        flat = flat.astype(np.float32)
    return flat if flat.size <= 127 else np.concatenate([flat[::97], flat[-5:]])


def checksum(values: npt.NDArray[Any]) -> int:
    return zlib.crc32(np.ascontiguousarray(values).tobytes())
