"""Clusters under faults: simulated ones, message by message, and real ones, whose processes are killed (see README.md)."""
