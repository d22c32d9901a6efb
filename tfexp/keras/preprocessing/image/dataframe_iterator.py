"""Batches of transformed images from the files that a pandas table names."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tfexp.keras.preprocessing.image.files_iterator import FilesIterator

if TYPE_CHECKING:
    from tfexp.keras.preprocessing.image.generator import ImageDataGenerator

_BY_CLASS = frozenset({"binary", "categorical", "sparse"})


class DataFrameIterator(FilesIterator):
    """Batches of the images whose paths stand in column `x_col` (below `directory`, where one is given).

    class_mode: what the targets are: "binary", "categorical" (column `y_col` has names, or lists of names) or "sparse"
    numbers of classes; "raw": the values of `y_col`; "multi_output": a list of `y_col`'s columns; "input": the images;
    None: none. weight_col: the column of sample weights. validate_filenames: leave out rows that name no image.
    """

    allowed_class_modes = frozenset({*_BY_CLASS, "input", "multi_output", "raw", None})

    def __init__(
        self,
        dataframe: Any,
        directory: Any = None,
        image_data_generator: ImageDataGenerator | None = None,
        x_col: str = "filename",
        y_col: Any = "class",
        weight_col: str | None = None,
        target_size: tuple[int, int] = (256, 256),
        color_mode: str = "rgb",
        classes: Sequence[str] | None = None,
        class_mode: str | None = "categorical",
        batch_size: int = 32,
        shuffle: bool = True,
        seed: int | None = None,
        data_format: str | None = "channels_last",
        save_to_dir: Any = None,
        save_prefix: str = "",
        save_format: str = "png",
        subset: str | None = None,
        interpolation: str = "nearest",
        dtype: Any = "float32",
        validate_filenames: bool = True,
    ) -> None:
        if image_data_generator is None:
            raise ValueError("DataFrameIterator needs an `image_data_generator`")
        saving = (save_to_dir, save_prefix, save_format)
        self._set_up_images(image_data_generator, target_size, color_mode, data_format, saving, subset, interpolation, dtype)
        self.directory = os.fspath(directory or "")
        self.class_mode = class_mode
        table = dataframe.copy()
        self._check(table, x_col, y_col, weight_col, classes)
        if validate_filenames:
            table = self._with_images(table, x_col)
        if class_mode in _BY_CLASS:
            table, classes = self._with_classes(table, y_col, classes)
            self.class_indices = {name: number for number, name in enumerate(classes)}
        if self.split is not None:
            first, end = (int(bound * len(table)) for bound in self.split)
            table = table.iloc[first:end]
        if class_mode in _BY_CLASS:
            self.classes = self._numbers(table[y_col].values)
        self.filenames = table[x_col].tolist()
        self.sample_weight = table[weight_col].values if weight_col else None
        if class_mode == "multi_output":
            self.labels = [np.array(table[column].tolist()) for column in y_col]
        elif class_mode == "raw":
            self.labels = table[y_col].values
        elif class_mode in _BY_CLASS:
            self.labels = self.classes
        self.samples = len(self.filenames)
        kind = "validated image" if validate_filenames else "non-validated image"
        of_classes = f" belonging to {len(self.class_indices)} classes" if class_mode in _BY_CLASS else ""
        print(f"Found {self.samples} {kind} filenames{of_classes}.")
        self._filepaths = [os.path.join(self.directory, name) for name in self.filenames]
        super().__init__(self.samples, batch_size, shuffle, seed)

    @property
    def filepaths(self) -> list[str]:  # type: ignore[override]
        """Each image's path."""
        return self._filepaths

    def _check(self, table: Any, x_col: str, y_col: Any, weight_col: str | None, classes: Any) -> None:
        """TypeError, ValueError: columns are not of the kinds that class_mode needs."""
        if self.class_mode not in self.allowed_class_modes:
            allowed = set(self.allowed_class_modes)
            raise ValueError(f"Invalid class_mode: {self.class_mode}; expected one of: {allowed}")
        if self.class_mode == "multi_output" and not isinstance(y_col, list):
            raise TypeError(f'If class_mode="{self.class_mode}", y_col must be a list. Received {type(y_col).__name__}.')
        if not all(table[x_col].apply(lambda name: isinstance(name, str))):
            raise TypeError(f"All values in column x_col={x_col} must be strings.")
        kinds: tuple[type, ...]
        if self.class_mode in {"binary", "sparse"}:
            kinds = (str,)
            if not all(table[y_col].apply(lambda name: isinstance(name, kinds))):
                raise TypeError(f'If class_mode="{self.class_mode}", y_col="{y_col}" column values must be strings.')
        if self.class_mode == "binary":
            count = len(set(classes)) if classes else table[y_col].nunique()
            if count != 2:
                given = "" if not classes else f" {count} class were passed in classes."
                raise ValueError(f'If class_mode="binary" there must be 2 classes.{given} Found {count} classes.')
        if self.class_mode == "categorical":
            kinds = (str, list, tuple)
            if not all(table[y_col].apply(lambda name: isinstance(name, kinds))):
                raise TypeError(
                    f'If class_mode="{self.class_mode}", y_col="{y_col}" column values must be type string, list or tuple.'
                )
        if classes and self.class_mode in {"input", "multi_output", "raw", None}:
            warnings.warn(f'`classes` will be ignored given the class_mode="{self.class_mode}"', stacklevel=5)
        if weight_col and not np.issubdtype(table[weight_col].dtype, np.number):
            raise TypeError(f"Column weight_col={weight_col} must be numeric.")

    def _with_images(self, table: Any, x_col: str) -> Any:
        endings = tuple(f".{ending}" for ending in self.white_list_formats)
        paths = table[x_col].map(lambda name: os.path.join(self.directory, name))
        there = paths.apply(lambda path: path.lower().endswith(endings) and os.path.isfile(path))
        if not all(there):
            warnings.warn(
                f'Found {int((~there).sum())} invalid image filename(s) in x_col="{x_col}". These filename(s) will be '
                "ignored.",
                stacklevel=5,
            )
        return table[there]

    @staticmethod
    def _with_classes(table: Any, y_col: str, classes: Any) -> tuple[Any, list[str]]:
        """The rows that have one of the classes, and the classes: those given, or all, sorted."""
        lists = table[y_col].apply(lambda names: [names] if isinstance(names, str) else list(names))
        if not classes:
            return table, sorted({name for names in lists for name in names})
        wanted = list(dict.fromkeys(classes))
        is_name = table[y_col].apply(lambda names: isinstance(names, str))
        table = table.copy()
        table[y_col] = [
            (names[0] if alone else [name for name in names if name in wanted])
            for names, alone in zip(lists, is_name, strict=True)
        ]
        kept = [any(name in wanted for name in names) for names in lists]
        return table[np.array(kept, dtype=bool)], wanted

    def _numbers(self, labels: Any) -> list[Any]:
        numbers = self.class_indices
        return [numbers[name] if isinstance(name, str) else [numbers[each] for each in name] for name in labels]
