"""What TensorFlow's modules of few lines answer: how this build differs from Google's own. Source: TF 1.15."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

USE_OSS = OSS_APP = OSS_FLAGS = OSS_GFILE = OSS_GOOGLETEST = OSS_LOGGING = OSS_PARAMETERIZED = True


def get_default_communication_protocol() -> str:
    """By which the tasks of a cluster talk."""
    return "grpc"


def SetupStatusBarInsideGoogle(unused_link_text: str, unused_port: int) -> None:
    """There is no status bar elsewhere."""


def get_parent_dir(module: ModuleType) -> str:
    """The folder above that of a package."""
    return str(Path(module.__file__ or "").absolute().parent.parent)
