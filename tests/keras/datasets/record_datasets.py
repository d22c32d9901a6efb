"""Writes `datasets.json`: what TensorFlow (2.15) makes of the files of `dataset_cases.py`.

python tests/keras/datasets/record_datasets.py
"""

import importlib
import json
import tempfile
from pathlib import Path

from dataset_cases import answers, write_files


def main() -> None:
    import tensorflow as tf

    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder))
        for name in ("imdb", "reuters", "boston_housing"):
            module = importlib.import_module(f"keras.src.datasets.{name}")
            module.get_file = lambda path, **_: str(Path(folder) / path)
        found = answers(tf.keras.datasets)
    Path(__file__).with_name("datasets.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main()
