"""What `tf.keras.preprocessing` is asked, of TensorFlow when `record_preprocessing.py` runs and of tfexp in the tests.

Each case takes the namespace and a folder of images, and gives back what JSON can hold.
"""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

CASES: dict[str, Callable[[Any, Path], Any]] = {}
TEXTS = ["The cat sat; the mat!", "A cat, a Dog\tand the END", "", "mat mat mat"]


def case(function: Callable[[Any, Path], Any]) -> Callable[[Any, Path], Any]:
    CASES[function.__name__] = function
    return function


def plain(value: Any) -> Any:
    """Arrays as lists, with the type's name."""
    if isinstance(value, np.ndarray):
        rows = value.tolist() if value.dtype.kind not in "f" else np.round(value.astype(float), 5).tolist()
        return [str(value.dtype), list(value.shape), rows]
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.generic):
        return plain(value.item())
    return round(value, 6) if isinstance(value, float) else value


def images(n: int = 5, channels: int = 3, rows: int = 7, columns: int = 5) -> np.ndarray:
    generator = np.random.RandomState(3)
    return generator.randint(0, 256, (n, rows, columns, channels)).astype("float32")


def write_images(folder: Path) -> None:
    """Two classes of pictures, and what is no picture."""
    from PIL import Image

    generator = np.random.RandomState(11)
    for name, count in (("cats", 3), ("dogs", 5)):
        (folder / name / "more").mkdir(parents=True)
        for i in range(count):
            array = generator.randint(0, 256, (6 + i, 5, 3)).astype("uint8")
            below = folder / name / ("more" if i == 1 else "")
            Image.fromarray(array).save(below / f"p{i}.png")
    (folder / "dogs" / "note.txt").write_text("no picture")


def errors(*calls: Callable[[], Any]) -> list[list[str]]:
    found = []
    for call in calls:
        try:
            call()
        except (ValueError, TypeError) as error:
            found.append([type(error).__name__, str(error)])
        else:
            found.append(["", ""])
    return found


@case
def padding(pre: Any, _: Path) -> Any:
    pad = pre.sequence.pad_sequences
    rows = [[1, 2, 3, 4, 5], [6], [], [7, 8]]
    return [
        pad(rows),
        pad(rows, maxlen=3),
        pad(rows, maxlen=3, padding="post", truncating="post", dtype="float64", value=-1.5),
        pad([[[1, 2], [3, 4]], [[5, 6]]], maxlen=3),
        pad([["a", "bc"], ["d"]], dtype=object, value="").tolist(),
        errors(
            lambda: pad(3),
            lambda: pad([1, 2]),
            lambda: pad(rows, padding="x"),
            lambda: pad(rows, truncating="x"),
            lambda: pad([["a"]], value="b"),
            lambda: pad([[[1, 2]], [[3]]]),
        ),
    ]


@case
def sampling(pre: Any, _: Path) -> Any:
    random.seed(5)
    words = [1, 2, 0, 3, 4, 2, 5]
    table = pre.sequence.make_sampling_table(7, 0.01)
    return [
        table,
        pre.sequence.skipgrams(words, 6, window_size=2),
        pre.sequence.skipgrams(words, 6, window_size=1, negative_samples=2.0, categorical=True, seed=3),
        pre.sequence.skipgrams(words, 6, negative_samples=0, shuffle=False, sampling_table=table * 9),
    ]


@case
def windows(pre: Any, _: Path) -> Any:
    series = np.arange(60).reshape(20, 3)
    make = pre.sequence.TimeseriesGenerator
    np.random.seed(1)
    made = [
        make(series, np.arange(20), 5),
        make(series, np.arange(20), 5, batch_size=3, stride=2, sampling_rate=2, start_index=2, end_index=17),
        make(series.tolist(), list(range(20)), 3, batch_size=4, shuffle=True, reverse=True),
    ]
    return [
        [[len(g), [list(g[i]) for i in range(len(g))]] for g in made],
        make([1, 2, 3], [4, 5, 6], 1).get_config(),
        make(np.arange(4), np.arange(4), 1).to_json(),
        errors(lambda: make(series, [1], 2), lambda: make(series, series, 30)),
    ]


@case
def words(pre: Any, _: Path) -> Any:
    text = pre.text
    return [
        text.text_to_word_sequence(TEXTS[1]),
        text.text_to_word_sequence("a,B,,c", filters="", lower=False, split=","),
        text.hashing_trick(TEXTS[0], 10, hash_function="md5"),
        text.hashing_trick(TEXTS[0], 10, hash_function=len),
        len(text.one_hot(TEXTS[0], 10)),
    ]


@case
def tokenizers(pre: Any, _: Path) -> Any:
    def all_of(tokenizer: Any) -> list[Any]:
        tokenizer.fit_on_texts(TEXTS)
        sequences = tokenizer.texts_to_sequences([*TEXTS, "an unknown cat"])
        return [
            tokenizer.word_index,
            tokenizer.index_word,
            dict(tokenizer.word_counts),
            sorted(tokenizer.word_docs.items()),
            sorted(tokenizer.index_docs.items()),
            tokenizer.document_count,
            sequences,
            tokenizer.sequences_to_texts(sequences),
            [tokenizer.texts_to_matrix(TEXTS, mode) for mode in ("binary", "count", "freq", "tfidf")],
        ]

    make = pre.text.Tokenizer
    fitted = make()
    fitted.fit_on_texts([["A", "b"], "b c"])
    fitted.fit_on_sequences([[1, 2], [2]])
    again = pre.text.tokenizer_from_json(fitted.to_json())
    return [
        all_of(make()),
        all_of(make(num_words=4)),
        all_of(make(num_words=5, oov_token="<oov>")),
        all_of(make(char_level=True, lower=False)),
        [
            again.word_index,
            again.index_word,
            dict(again.word_counts),
            sorted(again.index_docs.items()),
            again.get_config()["split"],
        ],
        errors(
            lambda: make().sequences_to_matrix([[1]]),
            lambda: make(num_words=3).sequences_to_matrix([[1]], mode="tfidf"),
            lambda: again.sequences_to_matrix([[1]], mode="x"),
            lambda: make(nonsense=1),
        ),
    ]


@case
def image_arrays(pre: Any, folder: Path) -> Any:
    image = pre.image
    picture = images(1)[0]
    path = folder / "saved.png"
    image.save_img(path, picture)
    gray = image.load_img(path, color_mode="grayscale")
    resized = [image.load_img(path, target_size=(4, 3), interpolation=how) for how in ("nearest", "bilinear", "lanczos")]
    return [
        image.img_to_array(image.load_img(path)),
        image.img_to_array(gray, data_format="channels_first"),
        [image.img_to_array(each, dtype="int32") for each in resized],
        image.load_img(path, color_mode="rgba").mode,
        np.asarray(image.array_to_img(picture[:, :, :1] * 3, scale=False)).astype("int64"),
        np.asarray(image.array_to_img(picture.transpose(2, 0, 1), data_format="channels_first")),
        np.asarray(image.array_to_img(np.zeros((2, 3, 3)))),
        errors(
            lambda: image.array_to_img(np.zeros((2, 2))),
            lambda: image.array_to_img(np.zeros((2, 2, 5))),
            lambda: image.load_img(path, color_mode="x"),
        ),
    ]


@case
def transforms(pre: Any, _: Path) -> Any:
    image = pre.image
    picture = images(1)[0]
    last = {"row_axis": 0, "col_axis": 1, "channel_axis": 2}
    first = picture.transpose(2, 0, 1)
    np.random.seed(7)
    return [
        image.random_rotation(picture, 45, **last),
        image.random_shift(picture, 0.3, 0.2, **last, fill_mode="constant", cval=9.0),
        image.random_shear(picture, 20, **last, fill_mode="reflect"),
        image.random_zoom(picture, (0.5, 1.5), **last, fill_mode="wrap"),
        image.random_zoom(first, (0.8, 0.8)),
        image.random_channel_shift(picture, 20.0, 2),
        image.random_brightness(picture, (0.4, 1.6)),
        image.apply_affine_transform(picture, **last),
        image.apply_affine_transform(picture, theta=30, tx=1, ty=-0.5, shear=10, zx=0.9, zy=1.2, order=0, **last),
        errors(lambda: image.random_zoom(picture, (1,)), lambda: image.random_brightness(picture, (1,))),
    ]


SETTINGS: dict[str, dict[str, Any]] = {
    "still": {},
    "moved": {"rotation_range": 20, "width_shift_range": 0.3, "height_shift_range": 2, "shear_range": 5, "zoom_range": 0.2},
    "listed": {"width_shift_range": [1, 2], "height_shift_range": [0.1, 0.2], "zoom_range": [0.5, 0.9], "cval": 3.0},
    "coloured": {"channel_shift_range": 30.0, "brightness_range": (0.5, 1.5), "horizontal_flip": True,
                 "vertical_flip": True},
    "scaled": {"rescale": 1 / 255, "preprocessing_function": lambda x: x + 1, "samplewise_std_normalization": True,
               "samplewise_center": True},
    "featurewise": {"featurewise_center": True, "featurewise_std_normalization": True},
    "whitened": {"featurewise_center": True, "zca_whitening": True, "zca_epsilon": 0.1},
}  # fmt: skip


@case
def generators(pre: Any, _: Path) -> Any:
    found = {}
    for name, settings in SETTINGS.items():
        generator = pre.image.ImageDataGenerator(**settings)
        generator.fit(images(), augment=name == "featurewise", rounds=2, seed=4)
        flow = generator.flow(images(), np.arange(5), batch_size=3, seed=2)
        found[name] = [flow.next(), flow.next(), flow[1], generator.get_random_transform((7, 5, 3), seed=1)]
    return found


@case
def flows(pre: Any, _: Path) -> Any:
    generator = pre.image.ImageDataGenerator(validation_split=0.4)
    x, y = images(6, 1, 2, 2), np.array([0, 1, 0, 1, 0, 1])
    np.random.seed(0)
    parts = [
        generator.flow(x, y, batch_size=2, subset="training", shuffle=False),
        generator.flow(x, y, batch_size=4, sample_weight=np.arange(6) / 2, shuffle=False),
        generator.flow((x, [y * 2]), batch_size=4, subset="validation"),
        generator.flow(x, batch_size=4),
    ]
    make = pre.image.ImageDataGenerator
    return [
        [[len(part), part.n, part.next(), part.next()] for part in parts],
        errors(
            lambda: parts[0][7],
            lambda: generator.flow(x, y[:3]),
            lambda: generator.flow(x, y, sample_weight=y[:3]),
            lambda: generator.flow((x, y[:3])),
            lambda: generator.flow(x[0]),
            lambda: generator.flow(x, np.sort(y), subset="training"),
            lambda: generator.flow(x, subset="nonsense"),
            lambda: make(validation_split=2),
            lambda: make(zoom_range=(1, 2, 3)),
            lambda: make(brightness_range=1.0),
            lambda: make().fit(x[0]),
        ),
    ]


@case
def folders(pre: Any, folder: Path) -> Any:
    write_images(folder / "pictures")
    generator = pre.image.ImageDataGenerator(validation_split=0.4, horizontal_flip=True)
    found = []
    for settings in (
        {},
        {"class_mode": "binary", "subset": "validation"},
        {"class_mode": "sparse", "subset": "training", "color_mode": "grayscale"},
        {"class_mode": None, "shuffle": False, "classes": ["dogs"], "interpolation": "bilinear"},
        {"class_mode": "input"},
    ):
        flow = generator.flow_from_directory(folder / "pictures", (4, 3), batch_size=4, **{"seed": 5, **settings})
        found.append(
            [flow.samples, flow.class_indices, flow.filenames, flow.classes, flow.image_shape, flow.next(), flow.next()]
        )
    return [
        found,
        errors(
            lambda: generator.flow_from_directory(folder, subset="x"),
            lambda: generator.flow_from_directory(folder, color_mode="x"),
        ),
    ]
