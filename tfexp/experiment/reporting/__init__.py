"""What is in the folders of runs, for those who look: `python -m tfexp.runs` lists, shows and compares them, and reports.

`liveness` and `run` read one folder, `find` a tree of them, `select` filters and sorts; `listing` and `comparison` print,
`picture` draws, `page` writes the page of a report. Nothing here builds a graph, and nothing writes into a run's folder.
"""
