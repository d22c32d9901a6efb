"""Models in the dress of other libraries."""
