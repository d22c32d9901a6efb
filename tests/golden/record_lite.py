"""Records models that real TensorFlow converts: `python -m tests.golden.record_lite`.

Run it from the repository's root with TensorFlow 1.15, whose converter is ours' example. What it writes, from the graphs in
`lite_cases`, goes to `tests/golden/lite`: files, with what TensorFlow's interpreter makes of them and says of their tensors.
"""

from __future__ import annotations

import json

from tests.golden import lite_cases as cases
from tests.golden import oracle


def main() -> None:
    """Writes all recordings anew."""
    tf = oracle.tensorflow()
    cases.LITE.mkdir(exist_ok=True)
    facts = {}
    for name in cases.CASES:
        file = cases.converted(tf, name)
        (cases.LITE / f"{name}.tflite").write_bytes(file)
        made = cases.outcome(tf.lite.Interpreter(model_content=file))
        facts[name] = {"output": made.tolist(), "tensors": cases.described(tf.lite.Interpreter(model_content=file))}
    (cases.LITE / "facts.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
