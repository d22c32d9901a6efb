"""SavedModels of objects: `saving` writes an object's variables and functions, `loading` reads them. Source: TF 1.15."""
