"""The rows of the table of stand-ins (`places`) for `tensorflow.python.keras`."""

from __future__ import annotations

from tfexp.stand_ins.places_of_data import renamed

_NAMESPACES = (
    "activations applications backend callbacks constraints datasets initializers layers losses metrics optimizers "
    "preprocessing preprocessing.image preprocessing.sequence preprocessing.text regularizers utils wrappers"
)
_LESS_USED = (
    "estimator experimental mixed_precision mixed_precision.experimental models optimizers.schedules wrappers.scikit_learn"
)
_LAYERS = "advanced_activations convolutional core embeddings local noise serialization wrappers"
_OLDER_OPTIMIZERS = "tfexp.keras.optimizers.older"
_OPTIMIZERS = "adadelta adagrad adam adamax ftrl gradient_descent nadam"
_DATASETS = "boston_housing cifar10 cifar100 fashion_mnist imdb mnist reuters"
_APPLICATIONS = (
    "densenet imagenet_utils inception_resnet_v2 inception_v3 mobilenet mobilenet_v2 nasnet resnet resnet50 resnet_v2 vgg16 "
    "vgg19 xception"
)


def published(prefix: str, home: str = "tf.keras") -> dict[str, str]:
    """Rows for Keras's public namespaces, below another module: {prefix: home, prefix.layers: home.layers, …}."""
    parts = [f"datasets.{name}" for name in _DATASETS.split()] + [f"applications.{name}" for name in _APPLICATIONS.split()]
    below = [*_NAMESPACES.split(), *_LESS_USED.split(), *parts]
    return {prefix: home, **{f"{prefix}.{name}": f"{home}.{name}" for name in below}}


# tensorflow.python.<key>, with the places that answer, in order.
KERAS = {
    **published("keras.api._v1.keras"),
    **published("keras.api._v2.keras", "tf.compat.v2.keras"),
    **published("keras.api.keras"),
    "keras": "tf.keras",
    **{f"keras.{name}": f"tf.keras.{name}" for name in _NAMESPACES.split()},
    **{f"keras.layers.{name}": "tf.keras.layers" for name in _LAYERS.split()},
    **{f"keras.optimizer_v2.{name}": "tf.keras.optimizers" for name in _OPTIMIZERS.split()},
    "keras.datasets.cifar": "tfexp.keras.datasets.cifar",
    **{f"keras.datasets.{name}": f"tf.keras.datasets.{name}" for name in _DATASETS.split()},
    **{f"keras.applications.{name}": f"tf.keras.applications.{name}" for name in _APPLICATIONS.split()},
    "keras.backend": (
        "tf.keras.backend tfexp.keras.backend "
        + renamed("tfexp.keras.backend.graph_function", GraphExecutionFunction="GraphFunction")
        + renamed("tfexp.keras.backend.graph_function", EagerExecutionFunction="EagerFunction")
        + "tf.math:logsumexp=reduce_logsumexp"
    ),
    "keras.backend_config": "tf.keras.backend",
    "keras.callbacks": "tf.keras.callbacks tfexp.keras.callbacks.callback tfexp.stand_ins.keras_callbacks",
    "keras.callbacks_v1": "tf.keras.callbacks",
    "keras.constraints": "tf.keras.constraints "
    + renamed("tf.keras.constraints", maxnorm="MaxNorm", nonneg="NonNeg", unitnorm="UnitNorm"),
    "keras.engine": "tf.keras.layers tf.keras.models tf.keras",
    "keras.engine.base_layer": (
        "tfexp.keras.engine.base_layer tfexp.keras.engine.operation_layer tfexp.keras.engine.added tf.keras.layers "
        "tfexp.keras.engine.node:KerasHistory=KerasHistory"
    ),
    "keras.engine.base_layer_utils": "tfexp.stand_ins.keras_layer_parts",
    "keras.engine.base_preprocessing_layer": "tfexp.stand_ins.keras_preprocessing_layers",
    "keras.engine.base_preprocessing_layer_v1": "tfexp.stand_ins.keras_preprocessing_layers",
    "keras.engine.data_adapter": "tfexp.stand_ins.keras_data_adapters",
    "keras.engine.input_layer": "tf.keras.layers tf.keras",
    "keras.engine.input_spec": (
        "tfexp.keras.engine.input_spec tfexp.keras.engine.input_spec:assert_input_compatibility=check_inputs "
        "tfexp.stand_ins.keras_weights_and_specs"
    ),
    "keras.engine.node": "tfexp.keras.engine.node",
    "keras.engine.saving": "tf.keras.models",
    "keras.engine.network": "tfexp.keras.engine.network tf.keras.utils tfexp.stand_ins.keras_tensors",
    "keras.engine.sequential": "tf.keras.models",
    "keras.engine.training_generator": "tfexp.stand_ins.keras_generators",
    "keras.engine.training_utils": "is tfexp.stand_ins.keras_training",
    "keras.engine.training": "tf.keras.models",
    "keras.keras_parameterized": "tfexp.stand_ins.keras_tests",
    "keras.layers.convolutional": (
        "tf.keras.layers tfexp.keras.layers.convolutional:Conv=Conv "
        "tfexp.keras.layers.convolutional_separable:SeparableConv=SeparableConv "
        + renamed("tf.keras.layers", Deconvolution2D="Conv2DTranspose", Deconv2D="Conv2DTranspose")
        + renamed("tf.keras.layers", Deconvolution3D="Conv3DTranspose", Deconv3D="Conv3DTranspose")
    ),
    "keras.layers.convolutional_recurrent": "tf.keras.layers tfexp.keras.layers.convolutional_recurrent",
    "keras.layers.cudnn_recurrent": "tf.keras.layers tfexp.keras.layers.recurrent_cudnn",
    "keras.layers.dense_attention": "tf.keras.layers tfexp.keras.layers.attention:BaseDenseAttention=DenseAttention",
    "keras.layers.kernelized": "tfexp.stand_ins.keras_kernelized",
    "keras.utils.kernelized_utils": "tfexp.stand_ins.keras_kernelized",
    "keras.layers.merge": "tf.keras.layers tfexp.keras.layers.merge:_Merge=Merge",
    "keras.layers.normalization": (
        "tf.keras.layers tfexp.keras.layers.normalization:BatchNormalizationBase=BatchNormalization"
    ),
    "keras.layers.normalization_v2": "tf.compat.v2.keras.layers",
    "keras.layers.pooling": "tf.keras.layers "
    + renamed("tfexp.keras.layers.pooling", **{f"Pooling{n}D": f"_Pooling{n}D" for n in (1, 2, 3)})
    + renamed("tfexp.keras.layers.pooling_global", **{f"GlobalPooling{n}D": "_GlobalPooling" for n in (1, 2, 3)}),
    "keras.layers.preprocessing.normalization": "tfexp.stand_ins.keras_preprocessing_layers",
    "keras.layers.preprocessing.normalization_v1": "tfexp.stand_ins.keras_preprocessing_layers",
    "keras.layers.preprocessing.preprocessing_test_utils": "tfexp.stand_ins.keras_preprocessing_tests",
    "keras.layers.recurrent": "tf.keras.layers tfexp.keras.layers.recurrent_dropout tfexp.stand_ins.keras_recurrent",
    "keras.layers.recurrent_v2": "tf.compat.v2.keras.layers tfexp.stand_ins.keras_recurrent",
    "keras.layers.rnn_cell_wrapper_v2": "tfexp.layers.rnn_wrappers_of_keras:_RNNCellWrapperV2=KerasCellWrapper "
    "tfexp.layers.rnn_wrappers_of_keras",
    "keras.losses": (
        "tf.keras.losses tfexp.keras.losses.loss:LossFunctionWrapper=LossFunctionWrapper tfexp.stand_ins.keras_questions "
        "tfexp.keras.losses.functions:huber_loss=huber_loss"
    ),
    "keras.metrics": (
        "tf.keras.metrics tfexp.keras.metrics tfexp.stand_ins.keras_metric_parts tfexp.keras.metrics.means:Reduce=Reduce "
        + renamed("tfexp.keras.metrics.curves", SensitivitySpecificityBase="SensitivitySpecificityBase")
        + renamed("tfexp.keras.metrics.confusion", _ConfusionMatrixConditionCount="_Count")
    ),
    "keras.mixed_precision": "tf.keras.mixed_precision",
    "keras.mixed_precision.experimental": "tf.keras.mixed_precision.experimental",
    "keras.mixed_precision.experimental.autocast_variable": "tfexp.keras.mixed_precision.autocast",
    "keras.mixed_precision.experimental.loss_scale_optimizer": "tf.keras.mixed_precision.experimental",
    "keras.mixed_precision.experimental.test_util": "tfexp.stand_ins.keras_gradients",
    "keras.mixed_precision.experimental.policy": "tf.keras.mixed_precision.experimental tfexp.stand_ins.keras_policies",
    "keras.optimizer_v2.learning_rate_schedule": "tf.keras.optimizers.schedules tfexp.keras.optimizers.schedules",
    "keras.optimizer_v2.optimizer_v2": renamed(
        "tf.keras.optimizers", OptimizerV2="Optimizer", learning_rate_schedule="schedules"
    ),
    "keras.optimizer_v2.rmsprop": "tf.keras.optimizers tf.keras.optimizers:RMSProp=RMSprop",
    "keras.optimizers": f"{_OLDER_OPTIMIZERS} tf.keras.optimizers tfexp.keras.optimizers "
    + renamed(_OLDER_OPTIMIZERS, sgd="SGD", rmsprop="RMSprop", adagrad="Adagrad", adadelta="Adadelta")
    + renamed(_OLDER_OPTIMIZERS, adam="Adam", adamax="Adamax", nadam="Nadam"),
    "keras.premade.linear": "tf.keras.experimental",
    "keras.premade.wide_deep": "tf.keras.experimental",
    "keras.saving": "tf.keras.models",
    "keras.saving.hdf5_format": (
        "tfexp.keras.saving.model_hdf5 tfexp.keras.saving.weights_hdf5 tfexp.keras.saving.older_weights "
        + renamed(
            "tfexp.keras.saving.hdf5", save_attributes_to_hdf5_group="write_texts", HDF5_OBJECT_HEADER_LIMIT="HEADER_LIMIT"
        )
        + renamed("tfexp.keras.saving.hdf5", load_attributes_from_hdf5_group="read_texts")
    ),
    "keras.saving.model_config": "tf.keras.models",
    "keras.saving.save": "tf.keras.models",
    "keras.saving.saving_utils": "tfexp.stand_ins.keras_saving",
    "keras.saving.saved_model": "tf.keras.models",
    "keras.saving.saved_model.load": renamed("tf.keras.models", load="load_model"),
    "keras.saving.saved_model.save": renamed("tfexp.keras.saving.saved_model", save="save_objects"),
    "keras.saving.saved_model_experimental": "tf.keras.experimental",
    "keras.testing_utils": (
        "tfexp.stand_ins.keras_tests tfexp.stand_ins.keras_test_models tfexp.stand_ins.keras_layer_test "
        "tfexp.stand_ins.keras_test_models:_thread_local_data=_here"
    ),
    "keras.utils.data_utils": (
        "tf.keras.utils tfexp.keras.utils.files tfexp.keras.utils.data tfexp.stand_ins.keras_sequences "
        "tfexp.keras.utils.files:_hash_file=hash_of_file"
    ),
    "keras.utils.generic_utils": (
        "tf.keras.utils tfexp.keras.serialization tfexp.stand_ins.keras_utilities tfexp.stand_ins.keras_weights_and_specs "
        + renamed("tfexp.core.text", to_snake_case="snake_case")
        + renamed("tfexp.keras.layers.function_code", func_dump="dump")
    ),
    "keras.utils.io_utils": "tf.keras.utils tfexp.keras.saving.overwriting",
    "keras.utils.layer_utils": (
        "tf.keras.utils tfexp.keras.engine.summary tfexp.stand_ins.keras_weights_and_specs tfexp.stand_ins.keras_questions"
    ),
    "keras.utils.losses_utils": "tfexp.keras.losses.weighted tfexp.keras.losses.weighted:ReductionV2=Reduction "
    + renamed("tfexp.stand_ins.weighted_losses", scale_loss_for_distribution="scale_loss_for_distribution"),
    "keras.utils.metrics_utils": (
        "tfexp.stand_ins.keras_metric_parts tfexp.keras.metrics.means:Reduction=Reduction "
        + renamed("tfexp.keras.metrics.confusion", ConfusionMatrix="ConfusionMatrix", NEG_INF="NEVER")
        + renamed("tfexp.keras.metrics.confusion", _filter_top_k="only_the_largest")
        + renamed("tfexp.keras.metrics.confusion", update_confusion_matrix_variables="count_confusions")
        + renamed("tfexp.keras.metrics.confusion", assert_thresholds_range="check_thresholds")
        + renamed("tfexp.keras.metrics.confusion", parse_init_thresholds="listed_thresholds")
        + renamed("tfexp.keras.metrics.curves", AUCCurve="AUCCurve", AUCSummationMethod="AUCSummationMethod")
    ),
    "keras.models": (
        "tf.keras.models tfexp.stand_ins.keras_copies "
        + renamed("tfexp.keras.engine.cloning", _clone_layer="same_layer", _clone_functional_model="clone_functional")
        + renamed("tfexp.keras.engine.cloning", _clone_sequential_model="clone_sequential")
    ),
    "keras.model_subclassing_test_util": "tfexp.stand_ins.keras_subclasses",
    "keras.utils.mode_keys": "tfexp.stand_ins.keras_utilities",
    "keras.utils.multi_gpu_utils": "tf.keras.utils",
    "keras.utils.np_utils": "tf.keras.utils",
    "keras.utils.tf_utils": (
        "tfexp.stand_ins.keras_tensors tfexp.keras.engine.dependencies tfexp.stand_ins.keras_weights_and_specs"
    ),
    "keras.utils.vis_utils": "tf.keras.utils tfexp.stand_ins.keras_questions",
    "keras.utils.conv_utils": "tfexp.stand_ins.keras_windows",
    "keras.wrappers.scikit_learn": "tf.keras.wrappers.scikit_learn tfexp.keras.wrappers.scikit_learn",
}
