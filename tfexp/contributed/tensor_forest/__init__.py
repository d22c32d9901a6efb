"""Random forests that grow while examples come in: their settings, the data's description, the graphs. Source: TF 1.15."""
