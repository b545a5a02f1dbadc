#!/usr/bin/env python3
"""What NumPy and SciPy say about samples, for the tests of Sources/BenchCore/Statistics.

  statistics_oracle.py REQUEST.json ANSWER.json

The request holds `values` (a list), `fractions` (percentiles), `tails` ([k, n, p] of binomials),
`counts` ([fraction, confidence] of LoadGen's rule). The answer has an entry for each.

Needs: pip install numpy scipy
"""

import json
import sys

import numpy as np
from scipy import special, stats


def minimum_count(fraction, confidence):
    """By the regularized incomplete Beta, as LoadGen states it, with one value above."""
    n = 2
    while special.betainc(n - 1, 2, fraction) > 1 - confidence:
        n += 1
    return n


def median_interval(values, confidence):
    """The bootstrap distribution of an odd number's median is known: it is at most the k-th
    smallest value when more than half of the draws are among the k smallest."""
    ordered, n = np.sort(values), len(values)
    share = [stats.binom.sf(n // 2, n, (k + 1) / n) for k in range(n)]
    tail = (1 - confidence) / 2
    ends = [next(k for k in range(n) if share[k] >= q) for q in (tail, 1 - tail)]
    return [float(ordered[k]) for k in ends]


def main():
    with open(sys.argv[1]) as file:
        request = json.load(file)
    values = np.array(request["values"])
    answer = {
        "median": float(np.median(values)),
        "mean": float(np.mean(values)),
        "deviation": float(np.std(values, ddof=1)),
        "scaledMedianDeviation": float(stats.median_abs_deviation(values, scale="normal")),
        "percentiles": [
            float(np.percentile(values, f * 100, method="inverted_cdf"))
            for f in request["fractions"]
        ],
        "tails": [float(stats.binom.cdf(k, int(n), p)) for k, n, p in request["tails"]],
        "counts": [minimum_count(*pair) for pair in request["counts"]],
        "interval": median_interval(values, 0.95),
    }
    with open(sys.argv[2], "w") as file:
        json.dump(answer, file)


if __name__ == "__main__":
    main()
