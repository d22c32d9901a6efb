"""Sweeps: many runs of one command, `python -m tfexp -m …`.

The words of the command become a space (`space`), which a search (`searching`, `optuna_search`) walks point by point; a
point with a seed is a trial (`plan`: composed and checked, all of them before the first starts where that can be). A
launcher has attempts at trials run (`launching`, `attempt`). The `driver` decides what to start and writes everything that
happens into the journal (`journal`) before it acts on it; what is known of the trials is a fold over the journal's events
(`ledger`), so that a sweep that is taken up again knows what it knew. `halving` ends trials early. What came out is shown
while it runs (`table`) and put down at the end (`results`, `plots`, `hparams`).
"""
