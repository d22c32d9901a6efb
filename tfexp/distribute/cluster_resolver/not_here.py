"""The resolvers of services that tfexp does not speak with: asking for one says what to use in its place."""

from __future__ import annotations

from typing import Any

from tfexp.distribute.cluster_resolver.resolvers import ClusterResolver


class _NotHere(ClusterResolver):
    """Raises NotImplementedError with what is missing."""

    _missing: str

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(
            f"tf.distribute.cluster_resolver.{cls.__name__} needs {cls._missing}, which tfexp does not have. Name "
            "the tasks yourself by SimpleClusterResolver, or set TF_CONFIG for TFConfigClusterResolver."
        )


class GCEClusterResolver(_NotHere):
    """Google Compute Engine's instance groups."""

    _missing = "a client of Google Compute Engine (googleapiclient)"


class KubernetesClusterResolver(_NotHere):
    """The pods of a Kubernetes cluster."""

    _missing = "a client of Kubernetes"
