"""The best of several solutions to a constrained problem. Source: `tf.contrib.constrained_optimization`, TF 1.15.

After Cotter, Jiang and Sridharan, "Two-Player Games for Efficient Non-Convex Constrained Optimization" (2018).
"""

from __future__ import annotations

from typing import Any

import numpy as np


def find_best_candidate_distribution(objective_vector: Any, constraints_matrix: Any, epsilon: float = 0.0) -> np.ndarray:
    """The chances [n] of the candidates for which the objective is least, among those that violate constraints least.

    objective_vector: [n]; constraints_matrix: [m, n], satisfied where not positive. What counts is the largest violation in
    the mean; it may be up to `epsilon` larger than it needs to be. At most m + 1 chances are not 0. It needs SciPy.
    ValueError for shapes that do not fit or a negative epsilon; ImportError without SciPy.
    """
    objective, constraints = _checked(objective_vector, constraints_matrix)
    if epsilon < 0.0:
        raise ValueError("epsilon must be nonnegative")
    try:
        from scipy.optimize import linprog
    except ImportError as error:
        raise ImportError(
            "find_best_candidate_distribution needs SciPy, which is not installed: pip install scipy"
        ) from error
    count, candidates = constraints.shape
    # Chances and the largest violation: first the least violation that there is, then the objective with that.
    bounded = {"A_ub": np.hstack([constraints, -np.ones([count, 1])]), "b_ub": np.zeros(count)}
    whole = {"A_eq": np.append(np.ones(candidates), 0.0)[None], "b_eq": [1.0]}
    least = linprog(np.append(np.zeros(candidates), 1.0), **bounded, **whole, bounds=(0.0, None))
    allowed = [(0.0, None)] * candidates + [(0.0, least.x[-1] + epsilon)]
    found = linprog(np.append(objective, 0.0), **bounded, **whole, bounds=allowed)
    chances = np.maximum(found.x[:-1], 0.0)
    return chances / chances.sum()


def find_best_candidate_index(objective_vector: Any, constraints_matrix: Any, rank_objectives: bool = False) -> int:
    """The candidate whose worst rank among all is best, by the violation of each constraint (and by the objective).

    Of those that are as good, the one with the least objective. Shapes and errors as `find_best_candidate_distribution`.
    """
    objective, constraints = _checked(objective_vector, constraints_matrix)
    ranked = np.maximum(constraints, 0.0)
    if rank_objectives:
        ranked = np.vstack([ranked, objective])
    ranks = (ranked[:, :, None] > ranked[:, None, :]).sum(-1)
    return int(np.lexsort((objective, ranks.max(0, initial=0)))[0])


def _checked(objective_vector: Any, constraints_matrix: Any) -> tuple[np.ndarray, np.ndarray]:
    objective, constraints = np.asarray(objective_vector), np.asarray(constraints_matrix)
    if objective.ndim != 1 or constraints.ndim != 2 or constraints.shape[1] != objective.size:
        raise ValueError(
            "objective_vector must have shape (n,), and constraints_matrix (m, n), where n is the number of candidates, "
            f"and m is the number of constraints: {objective.shape}, {constraints.shape}"
        )
    return objective, constraints
