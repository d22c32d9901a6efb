"""The environment variable `TF_CONFIG`: a JSON object that says a process what its cluster is. Source: TF 1.15."""

from __future__ import annotations

import json
from typing import Any


def parse_tf_config(text: str | None) -> dict[str, Any]:
    """The object that the text is; nothing says nothing. ValueError where it is no JSON object."""
    try:
        config = json.loads(text or "{}")
    except json.JSONDecodeError as error:
        raise ValueError(f"The environment variable TF_CONFIG must be JSON: {error}. Given: {text}") from error
    if not isinstance(config, dict):
        raise ValueError(f'The environment variable TF_CONFIG must be an object with "cluster" and "task". Given: {text}')
    return config
