"""Writes `recorded/`: models in TensorFlow's files, and what they predict (TensorFlow 2.15, Keras as it is in graphs).

python tests/keras/saving/record_saved_models.py
"""

import json
import shutil
from pathlib import Path

from saved_models import ROWS, TARGETS, WORDS, nested, sequential


def _without_graphs(folder: Path) -> None:
    """Leave of a SavedModel what says which model it is: its graphs are large, and a matter of other tests."""
    (folder / "saved_model.pb").write_bytes(b"")
    (folder / "fingerprint.pb").unlink()


def main() -> None:
    import h5py
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    tf.set_random_seed(1)
    folder = Path(__file__).with_name("recorded")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    one = sequential(tf.keras)
    for _ in range(3):
        one.train_on_batch(ROWS, TARGETS)
    one.save(str(folder / "sequential.h5"))
    one.save(str(folder / "saved_model"), save_format="tf")
    _without_graphs(folder / "saved_model")
    one.save_weights(str(folder / "checkpoint" / "weights"))
    found = {"sequential": one.predict(ROWS).tolist(), "evaluated": list(map(float, one.evaluate(ROWS, TARGETS)))}
    one.train_on_batch(ROWS, TARGETS)
    found["a_step_later"] = one.predict(ROWS).tolist()
    two = nested(tf.keras)
    two.save(str(folder / "nested.h5"))
    with h5py.File(folder / "nested.h5", "a") as file:  # TensorFlow 2 has another name for it
        file.attrs["model_config"] = file.attrs["model_config"].replace(
            '"class_name": "Functional"', '"class_name": "Model"'
        )
    found["nested"] = two.predict([WORDS, ROWS]).tolist()
    (folder / "found.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main()
