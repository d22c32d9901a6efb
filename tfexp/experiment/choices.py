"""What there is to choose from, read from `conf/` as it stands: groups, their choices, and what each says of itself.

Reads text and imports nothing but Python's own modules: completion has a fifth of a second for all it does. A new folder
in `conf/` is a new group, a new file in it a choice; the first comment of the file says what the choice is, and
the comment of the group's line in `conf/config.yaml` what the group is.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tfexp.experiment.errors import ExperimentError

__all__ = ["Choice", "Group", "choice_of", "commands", "conf_dir", "groups", "of_runs", "own_folders", "shown"]

_IN_DEFAULTS = re.compile(r"^  - (?:override )?(?P<group>[\w/]+): (?P<choice>[\w.-]+) *(?:# *(?P<says>.*))?$", re.MULTILINE)
_OVERRIDE = re.compile(r"^ +- override /(?P<group>[\w/]+)(?:@\S+)?: *(?P<choice>[\w.-]+)", re.MULTILINE)
_HYDRAS = "hydra"
_PACKAGE = "# @package"  # Hydra reads these comments


@dataclass(frozen=True)
class Choice:
    """`name` in `path`; `says` is what its first comment says, "" where there is none."""

    name: str
    path: Path
    says: str

    @property
    def keys(self) -> list[str]:
        """The settings that the file itself gives a value, beside `target`."""
        found = re.findall(r"^(\w+) *:", self.path.read_text(encoding="utf-8"), re.MULTILINE)
        return [key for key in found if key not in ("defaults", "target")]

    @property
    def chooses(self) -> dict[str, str]:
        """What the file itself chooses in other groups: group -> choice."""
        found = _OVERRIDE.finditer(self.path.read_text(encoding="utf-8"))
        return {override["group"]: override["choice"] for override in found}


@dataclass(frozen=True)
class Group:
    """`default` is what is chosen unless something else is said, "" for nothing."""

    name: str
    says: str
    default: str
    choices: tuple[Choice, ...]

    def __getitem__(self, name: str) -> Choice | None:
        return next((choice for choice in self.choices if choice.name == name), None)


def conf_dir() -> Path:
    """The configuration: inside the package in an installed wheel, beside it in the source tree.

    Raises ExperimentError if it is in neither.
    """
    package = Path(__file__).resolve().parents[1]
    for candidate in (package / "conf", package.parent / "conf"):
        if (candidate / "config.yaml").is_file():
            return candidate
    raise ExperimentError(f"the configuration is missing: there is no conf/config.yaml in {package} or beside it")


def choice_of(group: str, target: str) -> str:
    """The choice of the group that names the class `package.module:Class`: one of ours, or else what a class of one's own
    would be called if it were one (`breast_cancer`).
    """
    ours = _targets().get((group, target))
    if ours is not None:
        return ours
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", target.rpartition(":")[2]).lower()


@functools.cache
def _targets() -> dict[tuple[str, str], str]:
    """(group, class) -> choice, of what is in `conf/`."""
    found = {}
    for path in sorted(conf_dir().glob("*/*.yaml")):
        for target in re.findall(r"^target: *(\S+)", path.read_text(encoding="utf-8"), re.MULTILINE):
            found[path.parent.name, target] = path.stem
    return found


def own_folders() -> list[Path]:
    """The choices that experiments of one's own bring: `experiments/<name>/conf` where the command is given."""
    return sorted(path for path in Path("experiments").glob("*/conf") if path.is_dir())


def groups(more: Sequence[Path] = ()) -> dict[str, Group]:
    """The config groups by name, in the order of their names; `more` are folders of the user's own (`--config-dir`), beside
    those of `own_folders`.

    A choice that two folders have is the first folder's: ours, as Hydra has it.
    """
    folders = [conf_dir(), *more, *own_folders()]
    described = {
        found["group"]: found for found in _IN_DEFAULTS.finditer((folders[0] / "config.yaml").read_text(encoding="utf-8"))
    }
    files: dict[str, dict[str, Path]] = {}
    for folder in folders:
        for path in sorted(folder.glob("**/*.yaml")):
            name = path.parent.relative_to(folder).as_posix()
            if name != "." and name.partition("/")[0] != _HYDRAS:
                files.setdefault(name, {}).setdefault(path.stem, path)
    return {
        name: Group(
            name,
            (described[name]["says"] or "") if name in described else "",
            described[name]["choice"] if name in described else "",
            tuple(Choice(choice, path, _first_comment(path)) for choice, path in sorted(files[name].items())),
        )
        for name in sorted(files)
    }


def of_runs() -> dict[str, str]:
    """What runs are told beside their settings (`resume=…`): name -> what it says."""
    text = (conf_dir() / "config.yaml").read_text(encoding="utf-8")
    return dict(re.findall(r"^(\w+): null # *(.*)$", text, re.MULTILINE))


def commands() -> list[tuple[str, str]]:
    """(command, what it does) of the package's other modules that are commands: their docstrings begin with how to call
    them.
    """
    found = []
    for path in sorted(Path(__file__).parents[1].glob("*.py")):
        says = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        call, colon, rest = says.partition("`: ")
        if colon and call.startswith("`python -m tfexp."):
            found.append((call.removeprefix("`"), " ".join(rest.split("\n\n")[0].split()).rstrip(".")))
    return found


def shown(path: Path) -> str:
    """The path of a configuration file as people are told it: ours begins with `conf/`, others are as they are."""
    ours = conf_dir()
    return f"conf/{path.relative_to(ours).as_posix()}" if path.is_relative_to(ours) else str(path)


def _first_comment(path: Path) -> str:
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            break
        if not line.startswith(_PACKAGE):
            return line.removeprefix("#").strip()
    return ""
