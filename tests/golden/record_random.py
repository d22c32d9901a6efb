"""Records what TensorFlow's random kernels draw: `python -m tests.golden.record_random`.

Run it from the repository's root with a Python that has `tensorflow` (2.x, used through `compat.v1`).
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from tests.golden import oracle
from tests.golden.random_cases import RUNS, VALUES, Case, cases, checksum, kept


def draw(tf: Any, case: Case) -> list[Any]:
    """The results of RUNS runs of the case's node in one session of TensorFlow."""
    # One thread: Multinomial's numbers depend on how its batch is cut among threads.
    config = tf.ConfigProto(intra_op_parallelism_threads=1)
    with tf.Graph().as_default() as graph, tf.Session(config=config) as session:
        inputs = [tf.constant(value, name=name) for name, value in case.inputs.items()]
        attrs = {name: tf.as_dtype(value) for name, value in case.attrs.items()}
        seeds = dict(zip(("seed", "seed2"), case.seeds, strict=True)) if case.seeds else {}
        node = tf.raw_ops.__dict__[case.op]
        result = node(**dict(zip(case.inputs, inputs, strict=True)), **attrs, **seeds)
        assert graph.get_operations()[-1].type == case.op
        return [session.run(result) for _ in range(RUNS)]


def main() -> None:
    """Writes `random/values.npz`: per case the kept elements of its runs, and an index of shapes and checksums."""
    tf = oracle.tensorflow()
    arrays: dict[str, Any] = {}
    index: dict[str, Any] = {}
    for number, case in enumerate(cases()):
        results = draw(tf, case)
        arrays[str(number)] = np.stack([kept(result) for result in results])
        index[case.key] = {
            "array": number,
            "dtype": str(results[0].dtype),
            "shape": list(np.shape(results[0])),
            "checksums": [checksum(result) for result in results] if case.exact else [],
        }
    VALUES.parent.mkdir(exist_ok=True)
    np.savez_compressed(VALUES, index=np.array(json.dumps(index)), **arrays)
    print(f"{len(index)} cases, {VALUES.stat().st_size} bytes")


if __name__ == "__main__":
    main()
