"""`keras.datasets.cifar`: what one file of CIFAR-10 or CIFAR-100 holds. Results are TensorFlow 1.15's."""

import pickle

import numpy as np
import pytest

from tfexp.stand_ins.modules import stand_for

cifar = stand_for("tensorflow.python.keras.datasets.cifar")


def test_a_batch_is_images_and_labels(tmp_path):
    path = str(tmp_path / "batch")
    pixels = np.arange(2 * 3072, dtype=np.uint8).reshape(2, 3072)
    with open(path, "wb") as file:
        pickle.dump({b"data": pixels, b"labels": [3, 4], b"fine_labels": [7, 8]}, file)
    images, labels = cifar.load_batch(path)
    assert images.shape == (2, 3, 32, 32) and images.dtype == np.uint8 and images[1, 2, 3, 4] == 100 and labels == [3, 4]
    assert cifar.load_batch(path, label_key="fine_labels")[1] == [7, 8]
    with pytest.raises(KeyError, match=r"coarse"):
        cifar.load_batch(path, "coarse")
    with pytest.raises(FileNotFoundError):
        cifar.load_batch(f"{path}s")
