"""What estimators are served with, and when they are exported. Source: `tf.contrib.learn.utils`, TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tfexp.contributed.learn.estimators import Trainable
from tfexp.contributed.learn.experiment import ExportStrategy
from tfexp.core import dtypes
from tfexp.core.shape import TensorShape
from tfexp.estimator.exporters import remove_older_exports
from tfexp.feature_column.model import make_parse_example_spec
from tfexp.ops.array_identity import placeholder
from tfexp.ops.parsing import parse_example


class InputFnOps(NamedTuple):
    """What a serving input function gives: features for the model, no labels, and the placeholders that are fed."""

    features: Any
    labels: Any
    default_inputs: Any


def build_parsing_serving_input_fn(
    feature_spec: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], InputFnOps]:
    """An input function of serialized tf.Examples, string [default_batch_size], which it parses by `feature_spec`."""

    def input_fn() -> InputFnOps:
        examples = placeholder(dtypes.string, [default_batch_size], name="input_example_tensor")
        return InputFnOps(parse_example(examples, feature_spec), None, {"examples": examples})

    return input_fn


def build_default_serving_input_fn(
    features: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], InputFnOps]:
    """An input function of features like these tensors, in batches of any size unless one is given."""

    def input_fn() -> InputFnOps:
        fed = {
            name: placeholder(like.dtype, TensorShape([default_batch_size]).concatenate(like.shape[1:]), like.op.name)
            for name, like in features.items()
        }
        return InputFnOps(fed, None, fed)

    return input_fn


def make_export_strategy(
    serving_input_fn: Callable[[], Any],
    default_output_alternative_key: str | None = None,
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    exports_to_keep: int | None = 5,
    strip_default_attrs: bool | None = None,
) -> ExportStrategy:
    """The ExportStrategy `Servo`: SavedModels below it, of which the newest `exports_to_keep` stay (None: all).

    serving_input_fn: gives InputFnOps, or for estimators of `tf.estimator` a ServingInputReceiver. ValueError in the export
    of such an estimator for a default_output_alternative_key, which is that of `Estimator.export_savedmodel`.
    """

    def export_fn(
        estimator: Any, export_dir_base: str, checkpoint_path: str | None = None, strip_default_attrs: bool = False
    ) -> bytes:
        chosen = {}
        if isinstance(estimator, Trainable):
            chosen = {"default_output_alternative_key": default_output_alternative_key}
        elif default_output_alternative_key is not None:
            raise ValueError(
                f"default_output_alternative_key is not supported in core Estimator. Given: {default_output_alternative_key}"
            )
        path: bytes = estimator.export_savedmodel(
            export_dir_base,
            serving_input_fn,
            **chosen,
            assets_extra=assets_extra,
            as_text=as_text,
            checkpoint_path=checkpoint_path,
            strip_default_attrs=strip_default_attrs,
        )
        remove_older_exports(export_dir_base, exports_to_keep)
        return path

    return ExportStrategy("Servo", export_fn, strip_default_attrs)


def make_parsing_export_strategy(
    feature_columns: Any,
    default_output_alternative_key: str | None = None,
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    exports_to_keep: int | None = 5,
    target_core: bool = False,
    strip_default_attrs: bool | None = None,
) -> ExportStrategy:
    """As `make_export_strategy`, served with tf.Examples that have what the columns need.

    target_core: not used, for estimators of both kinds are exported alike.
    """
    return make_export_strategy(
        build_parsing_serving_input_fn(make_parse_example_spec(feature_columns)),
        default_output_alternative_key,
        assets_extra,
        as_text,
        exports_to_keep,
        strip_default_attrs,
    )
