"""Writes `preprocessing.json.gz`: the answers of `keras_preprocessing` 1.1.2, of which TF 1.15 makes its own.

python tests/keras/preprocessing/record_preprocessing.py
"""

import gzip
import json
import tempfile
from pathlib import Path

from preprocessing_cases import CASES, plain


def main() -> None:
    import keras_preprocessing.image
    import keras_preprocessing.sequence
    import keras_preprocessing.text

    answers = {}
    for name, case in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            answers[name] = plain(case(keras_preprocessing, Path(folder)))
    target = Path(__file__).with_name("preprocessing.json.gz")
    target.write_bytes(gzip.compress(json.dumps(answers, separators=(",", ":")).encode(), mtime=0))


if __name__ == "__main__":
    main()
