"""A two-sample test that is right for few distinct values and for many."""

import numpy as np
from scipy import stats

FEW = 50


def p_value(first: np.ndarray, second: np.ndarray) -> float:
    """The probability, under one law, of samples at least as different as these.

    Few distinct values: chi-squared on their counts, rare ones pooled (Kolmogorov-Smirnov is
    powerless there). Many: Kolmogorov-Smirnov. A single value in both samples gives 1.
    """
    values = np.unique(np.concatenate([first, second]))
    if values.size > FEW:
        return float(stats.ks_2samp(first, second).pvalue)
    counts = np.array([[np.sum(sample == v) for v in values] for sample in (first, second)])
    rare = counts.sum(axis=0) < 10
    table = np.column_stack([counts[:, ~rare], counts[:, rare].sum(axis=1)])
    table = table[:, table.sum(axis=0) > 0]
    return float(stats.chi2_contingency(table).pvalue) if table.shape[1] > 1 else 1.0
