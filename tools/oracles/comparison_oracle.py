#!/usr/bin/env python3
"""What SciPy says of pairs of samples, for the tests of Sources/Comparison.

  comparison_oracle.py REQUEST.json ANSWER.json

The request holds `pairs` of `first` and `second`. The answer has the Hodges–Lehmann shifts of second
against first and the two-sided probabilities of the Mann–Whitney test: exact without ties for at most
40 values a side, else by the normal approximation with corrections for ties and continuity.

Needs: pip install numpy scipy
"""

import json
import sys

import numpy as np
from scipy import stats


def probability(first, second):
    pooled = np.concatenate([first, second])
    if np.all(pooled == pooled[0]):
        return 1.0
    has_ties = len(np.unique(pooled)) < len(pooled)
    exact = not has_ties and max(len(first), len(second)) <= 40
    method = "exact" if exact else "asymptotic"
    return float(stats.mannwhitneyu(second, first, alternative="two-sided", method=method).pvalue)


def main():
    with open(sys.argv[1]) as file:
        pairs = json.load(file)["pairs"]
    answer = {"shifts": [], "probabilities": []}
    for pair in pairs:
        first, second = np.array(pair["first"]), np.array(pair["second"])
        answer["shifts"].append(float(np.median(np.subtract.outer(second, first))))
        answer["probabilities"].append(probability(first, second))
    with open(sys.argv[2], "w") as file:
        json.dump(answer, file)


if __name__ == "__main__":
    main()
