"""Estimators with models of their own, of feature columns: a file for each kind of model."""
