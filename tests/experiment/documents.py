"""README.md and the guides in docs/, and what they tell people to type.

A block says by its language what is done with it: `sh` is run, line by line; `python` is run, or written to the file that
its first line names; `console` is compared with what is printed; `bash` and `text` are shown only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

__all__ = ["ON_RAY", "ROOT", "Document", "documents"]

ROOT = Path(__file__).resolve().parents[2]
ON_RAY = "python -m tfexp model=linreg cluster=2workers train.steps=300"
"""The command that starts a Ray of its own: test_ray_runs runs it."""
_FILE = re.compile(r"# (\w+\.py)\n")


@dataclass(frozen=True)
class Document:
    path: Path

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    def blocks(self, language: str) -> list[str]:
        return re.findall(rf"^```{language}\n(.*?)^```", self.text, re.DOTALL | re.MULTILINE)

    @property
    def commands(self) -> list[str]:
        """The lines to type, without those that set up."""
        return [line for block in self.blocks("sh") for line in block.splitlines() if "pip install" not in line]

    @property
    def files(self) -> dict[str, str]:
        """name -> content of the files that the document says to write."""
        return {named[1]: block for block in self.blocks("python") if (named := _FILE.match(block))}

    @property
    def programs(self) -> list[str]:
        return [block for block in self.blocks("python") if not _FILE.match(block)]

    @property
    def messages(self) -> list[tuple[str, str]]:
        """(command, what it prints)."""
        return [
            (command, said)
            for block in self.blocks("console")
            for command, said in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
        ]

    @property
    def links(self) -> list[str]:
        """To files of the project; those of pictures too."""
        found = re.findall(r"\]\(([^)\s]+)\)", re.sub(r"^```.*?^```", "", self.text, flags=re.DOTALL | re.MULTILINE))
        return [link for link in found if "://" not in link]


def documents() -> list[Document]:
    return [Document(ROOT / "README.md"), *(Document(path) for path in sorted((ROOT / "docs").glob("*.md")))]
