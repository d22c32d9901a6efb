"""`tf.estimator.WarmStartSettings`: which variables an Estimator begins with. Source: TF 1.15."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from tfexp.core.log import get_logger
from tfexp.train import saved_model_names as names
from tfexp.train.saved_model_loader import contains_saved_model
from tfexp.train.warm_starts import VocabInfo, warm_start

_log = get_logger()


class _Fields(NamedTuple):
    ckpt_to_initialize_from: str
    vars_to_warm_start: Any
    var_name_to_vocab_info: Mapping[str, VocabInfo]
    var_name_to_prev_var_name: Mapping[str, str]


class WarmStartSettings(_Fields):
    """The arguments of `tf.train.warm_start`; a checkpoint (a prefix, or a folder with checkpoints) is required."""

    __slots__ = ()

    def __new__(
        cls,
        ckpt_to_initialize_from: str,
        vars_to_warm_start: Any = ".*",
        var_name_to_vocab_info: Mapping[str, VocabInfo] | None = None,
        var_name_to_prev_var_name: Mapping[str, str] | None = None,
    ) -> WarmStartSettings:
        if not ckpt_to_initialize_from:
            raise ValueError("`ckpt_to_initialize_from` MUST be set in WarmStartSettings")
        return super().__new__(
            cls,
            ckpt_to_initialize_from,
            vars_to_warm_start,
            var_name_to_vocab_info or {},
            var_name_to_prev_var_name or {},
        )


def as_settings(given: Any) -> WarmStartSettings | None:
    """Settings as they are, or for a path: all trainable variables of that checkpoint, folder or SavedModel."""
    if given is None or isinstance(given, WarmStartSettings):
        return given
    if not isinstance(given, str | os.PathLike):
        raise ValueError(f"warm_start_from must be a string or a WarmStartSettings, instead got {type(given)}")
    path = os.fspath(given)
    if contains_saved_model(path):
        path = os.path.join(path, names.VARIABLES_DIRECTORY, names.VARIABLES_FILENAME)
    return WarmStartSettings(path)


def begin_with(settings: WarmStartSettings) -> None:
    """Have the variables of the default graph initialized so."""
    _log.info("Warm-starting with WarmStartSettings: %s", settings)
    warm_start(*settings)
