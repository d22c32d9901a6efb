"""Experiments of one's own: folders in `experiments/`, and the template that a new one begins with.

    experiments/<name>/model.py                       the model class, found as experiments.<name>.model
    experiments/<name>/conf/experiment/<name>.yaml    what experiment=<name> chooses
    experiments/<name>/test_<name>.py                 the conformance suite, for pytest
    experiments/<name>/README.md                      claim, command, result

Other groups' choices in `conf/` (a `conf/data/mine.yaml`) are found as well (`choices.own_folders`).
"""

from __future__ import annotations

import importlib.resources
import keyword
import re
import shutil
import tempfile
from pathlib import Path
from string import Template

from tfexp.experiment.choices import groups
from tfexp.experiment.errors import ExperimentError, SettingError

__all__ = ["write_new"]

_FILES = {
    "model.txt": "model.py",
    "config.txt": "conf/experiment/$name.yaml",
    "test.txt": "test_$name.py",
    "readme.txt": "README.md",
}


def write_new(name: str, root: Path) -> Path:
    """Write the template as `root/name`; the folder appears whole. Raises SettingError for a name that cannot be, and
    ExperimentError if the folder is there or cannot be written.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise SettingError(
            "",
            f"'{name}' cannot name an experiment: it is a folder, a Python package and a choice, so small letters, digits "
            "and _, a letter first: my_experiment",
        )
    folder = root / name
    if folder.exists():
        raise ExperimentError(f"{folder} is there already: choose another name")
    taken = groups()["experiment"][name]
    if taken is not None:
        raise SettingError("", f"experiment={name} is there already, in {taken.path}: choose another name")
    words = [word for word in name.split("_") if word]
    said = {"name": name, "class_name": "".join(map(str.capitalize, words)), "title": " ".join(words).capitalize()}
    template = importlib.resources.files("tfexp.experiment") / "template"
    try:
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=root, prefix=f".{name}.") as temporary:
            written = Path(temporary) / name
            for source, target in _FILES.items():
                path = written / Template(target).substitute(said)
                path.parent.mkdir(parents=True, exist_ok=True)
                text = (template / source).read_text(encoding="utf-8")
                path.write_text(Template(text).substitute(said), encoding="utf-8")
            shutil.move(written, folder)
    except OSError as error:
        raise ExperimentError(f"cannot write {folder}: {error.strerror}") from error
    return folder
