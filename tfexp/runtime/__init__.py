"""Runs plans: sessions, fetches and feeds, the executor, resources, threads.

`Session` talks to a `Backend` (`runtime.backend`): the local one plans and executes in this process; others register a
factory for their target's scheme (`grpc`).
"""
