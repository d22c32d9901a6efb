"""Modules that programs import at their top: names of layers, and the debugger that is not there."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.stand_ins.modules import stand_for


def test_layers_have_their_other_names():
    pooling, convolutional = (stand_for(f"tensorflow.python.layers.{name}") for name in ("pooling", "convolutional"))
    assert pooling.MaxPool2D is tf.layers.MaxPooling2D and pooling.avg_pool3d is tf.layers.average_pooling3d
    assert convolutional.convolution2d is tf.layers.conv2d and convolutional.Deconv3D is tf.layers.Conv3DTranspose


def test_the_debugger_can_be_imported_and_says_what_there_is_instead():
    debug = stand_for("tensorflow.python.debug")
    assert [debug.has_inf_or_nan(None, np.array(value)) for value in (1.0, np.inf, [1.0, np.nan], 3, "a")] == [
        False,
        True,
        True,
        False,
        False,
    ]
    with pytest.raises(NotImplementedError, match=r"LocalCLIDebugWrapperSession: tfexp has no tfdbg\. .*add_check_numerics"):
        debug.LocalCLIDebugWrapperSession(None)


@pytest.mark.parametrize("kind", [tf.Module, tf.keras.layers.Layer, tf.train.Checkpoint])
def test_what_is_assigned_without_dependency_is_no_part(kind):
    no_dependency = stand_for("tensorflow.python.training.tracking.data_structures").NoDependency
    owner, variable = kind(), tf.Variable(1.0, use_resource=True)
    owner.many, owner.settings = no_dependency([variable]), no_dependency({"a": 1})
    assert owner.many == [variable] and owner.settings == {"a": 1}
    assert "many" not in dict(owner._checkpoint_children())
    owner.many = [variable]
    assert "many" in dict(owner._checkpoint_children())
