"""The rows of the table of stand-ins (`places`) for `tensorflow.python.keras`."""

from __future__ import annotations

_NAMESPACES = (
    "activations applications backend callbacks constraints datasets initializers layers losses metrics models optimizers "
    "preprocessing preprocessing.image preprocessing.sequence preprocessing.text regularizers utils wrappers "
    "wrappers.scikit_learn"
)
_LAYERS = (
    "advanced_activations convolutional convolutional_recurrent core cudnn_recurrent embeddings local merge noise "
    "normalization pooling recurrent recurrent_v2 serialization wrappers"
)
_DATASETS = "boston_housing cifar10 cifar100 fashion_mnist imdb mnist reuters"
_APPLICATIONS = (
    "densenet imagenet_utils inception_resnet_v2 inception_v3 mobilenet mobilenet_v2 nasnet resnet resnet50 resnet_v2 vgg16 "
    "vgg19 xception"
)

# tensorflow.python.<key>, with the places that answer, in order.
KERAS = {
    "keras": "tf.keras",
    **{f"keras.{name}": f"tf.keras.{name}" for name in _NAMESPACES.split()},
    **{f"keras.layers.{name}": "tf.keras.layers" for name in _LAYERS.split()},
    **{f"keras.datasets.{name}": f"tf.keras.datasets.{name}" for name in _DATASETS.split()},
    **{f"keras.applications.{name}": f"tf.keras.applications.{name}" for name in _APPLICATIONS.split()},
    "keras.backend": "tf.keras.backend tfexp.keras.backend",
    "keras.callbacks": "tf.keras.callbacks tfexp.keras.callbacks.callback",
    "keras.engine": "tf.keras.layers tf.keras.models tf.keras",
    "keras.engine.base_layer": "tfexp.keras.engine.base_layer tfexp.keras.engine.operation_layer tf.keras.layers",
    "keras.engine.input_layer": "tf.keras.layers tf.keras",
    "keras.engine.input_spec": "tfexp.keras.engine.input_spec",
    "keras.engine.network": "tfexp.keras.engine.network tf.keras.utils tfexp.stand_ins.keras_tensors",
    "keras.engine.sequential": "tf.keras.models",
    "keras.engine.training": "tf.keras.models",
    "keras.keras_parameterized": "tfexp.stand_ins.keras_tests",
    "keras.mixed_precision": "tf.keras.mixed_precision",
    "keras.mixed_precision.experimental": "tf.keras.mixed_precision.experimental",
    "keras.mixed_precision.experimental.autocast_variable": "tfexp.keras.mixed_precision.autocast",
    "keras.mixed_precision.experimental.loss_scale_optimizer": "tf.keras.mixed_precision.experimental",
    "keras.mixed_precision.experimental.policy": "tf.keras.mixed_precision.experimental",
    "keras.optimizer_v2.adadelta": "tf.keras.optimizers",
    "keras.optimizer_v2.adagrad": "tf.keras.optimizers",
    "keras.optimizer_v2.adam": "tf.keras.optimizers",
    "keras.optimizer_v2.gradient_descent": "tf.keras.optimizers",
    "keras.optimizer_v2.learning_rate_schedule": "tf.keras.optimizers.schedules",
    "keras.optimizer_v2.optimizer_v2": "tf.keras.optimizers:OptimizerV2=Optimizer",
    "keras.optimizer_v2.rmsprop": "tf.keras.optimizers",
    "keras.premade.linear": "tf.keras.experimental",
    "keras.premade.wide_deep": "tf.keras.experimental",
    "keras.saving": "tf.keras.models",
    "keras.saving.hdf5_format": (
        "tfexp.keras.saving.model_hdf5 tfexp.keras.saving.weights_hdf5 tfexp.keras.saving.older_weights"
    ),
    "keras.saving.save": "tf.keras.models",
    "keras.saving.saved_model_experimental": "tf.keras.experimental",
    "keras.testing_utils": "tfexp.stand_ins.keras_tests",
    "keras.utils.data_utils": "tf.keras.utils tfexp.keras.utils.files",
    "keras.utils.generic_utils": "tf.keras.utils tfexp.keras.serialization",
    "keras.utils.io_utils": "tf.keras.utils",
    "keras.utils.layer_utils": "tf.keras.utils",
    "keras.utils.multi_gpu_utils": "tf.keras.utils",
    "keras.utils.np_utils": "tf.keras.utils",
    "keras.utils.tf_utils": "tfexp.stand_ins.keras_tensors tfexp.keras.engine.dependencies",
    "keras.utils.vis_utils": "tf.keras.utils",
    "keras.utils.conv_utils": "tfexp.stand_ins.layer_arguments",
}
