"""Tasks that run a graph together. A cluster is described by a `ClusterSpec`: jobs, their tasks and addresses."""
