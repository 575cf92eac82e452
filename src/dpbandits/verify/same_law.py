"""Two-sample test that is valid for few distinct values and for many."""

import warnings

import numpy as np
from scipy import stats

FEW = 50


def p_value(first: np.ndarray, second: np.ndarray) -> float:
    """Return the probability, under one law, of samples that differ at least as much as these.

    Few distinct values: chi-squared test on their counts, with rare values pooled (the
    Kolmogorov-Smirnov test has no power there). Many: Kolmogorov-Smirnov test. A single value in
    both samples gives 1.
    """
    values = np.unique(np.concatenate([first, second]))
    if values.size > FEW:
        with warnings.catch_warnings():
            # If p is nearly 1, scipy cannot compute it exactly and takes the asymptotic value.
            warnings.filterwarnings("ignore", "ks_2samp: Exact calculation unsuccessful")
            return float(stats.ks_2samp(first, second).pvalue)
    counts = np.array([[np.sum(sample == v) for v in values] for sample in (first, second)])
    rare = counts.sum(axis=0) < 10
    table = np.column_stack([counts[:, ~rare], counts[:, rare].sum(axis=1)])
    table = table[:, table.sum(axis=0) > 0]
    return float(stats.chi2_contingency(table).pvalue) if table.shape[1] > 1 else 1.0
