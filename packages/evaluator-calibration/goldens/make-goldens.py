"""Writes goldens.json with scikit-learn, scipy, statsmodels and mpmath (Debian's packages):

    apt-get install python3-sklearn python3-statsmodels python3-scipy python3-mpmath
    python3 goldens/make-goldens.py
"""

import json
import pathlib

import mpmath
import numpy as np
from scipy import optimize, stats
from scipy.special import softmax
from sklearn.calibration import calibration_curve
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score
from statsmodels.discrete.discrete_model import Logit
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint

mpmath.mp.dps = 60
rng = np.random.default_rng(20260101)


def special():
    xs = [-37.0, -8.2, -3.3, -1.96, -0.1, 0.0, 0.3, 1.5, 2.5758, 6.0, 9.5]
    shares = [1e-300, 1e-40, 4.7e-13, 1e-6, 0.003, 0.025, 0.31, 0.5, 0.8, 0.975, 0.9999]
    tails = [(0, 59, 0.05), (3, 400, 0.05), (14, 800, 0.05), (2, 1000, 0.04), (120, 4000, 0.05),
             (49_000, 1_000_000, 0.05), (49_600, 1_000_000, 0.05), (10, 12, 0.5), (700, 1000, 0.5)]
    betas = [(0.3, 0.5, 0.5), (0.9, 12.0, 1.5), (0.02, 3.0, 200.0), (1e-9, 2.0, 3.0)]
    at_most = [float(sum_binomial(0, k, n, p)) for k, n, p in tails]
    at_least = [float(sum_binomial(0, n - k, n, 1 - mpmath.mpf(p))) for k, n, p in tails]
    return {
        "normalCdf": [[x, float(mpmath.ncdf(x))] for x in xs],
        "normalQuantile": [[q, float(normal_quantile(q))] for q in shares],
        "binomial": [[*t, low, high] for t, low, high in zip(tails, at_most, at_least)],
        "beta": [[x, a, b, float(mpmath.betainc(a, b, 0, x, regularized=True))] for x, a, b in betas],
        "chiSquare": [[x, k, float(mpmath.gammainc(mpmath.mpf(k) / 2, x / 2, mpmath.inf, regularized=True))]
                      for x, k in [(3.84, 1), (16.919, 9), (0.5, 4), (120.0, 9), (9.2, 3)]],
        "chiSquareCut": [[k, float(stats.chi2.isf(0.05, k))] for k in range(1, 10)],
    }


def sum_binomial(low, high, n, p):
    """The tail by its own sum, so that it shares nothing with the incomplete beta."""
    p = mpmath.mpf(p)
    term = mpmath.binomial(n, high) * p**high * (1 - p) ** (n - high)
    total = mpmath.mpf(0)
    for k in range(high, low - 1, -1):
        total += term
        if k > 0:
            term *= mpmath.mpf(k) / (n - k + 1) * (1 - p) / p
        if term < total * mpmath.mpf(10) ** -40:
            break
    return total


def normal_quantile(q):
    start = stats.norm.ppf(q)
    return mpmath.findroot(lambda x: mpmath.log(mpmath.ncdf(x)) - mpmath.log(mpmath.mpf(q)), start)


def delong(p, y):
    ones, zeros = p[y == 1], p[y == 0]
    compare = (ones[:, None] > zeros[None, :]) + 0.5 * (ones[:, None] == zeros[None, :])
    variance = compare.mean(axis=1).var(ddof=1) / len(ones) + compare.mean(axis=0).var(ddof=1) / len(zeros)
    return float(np.sqrt(variance))


def ece_width(p, y, bins, w):
    hundredths = np.round(p * bins, 9)
    index = np.maximum(np.ceil(hundredths).astype(int) - 1, 0)
    return sum(abs((w * (y - p))[index == b].sum()) for b in range(bins)) / w.sum()


def ece_mass(p, y, bins):
    """Only for values without ties, where every reading of equal mass is the same."""
    order = np.argsort(p)
    return sum(abs((y - p)[part].sum()) for part in np.array_split(order, bins)) / len(p)


def ece_curve(p, y, bins, strategy):
    """From the points of scikit-learn's curve, which knows no weights: each weighted row is repeated."""
    observed, mean = calibration_curve(y, p, n_bins=bins, strategy=strategy)
    edges = np.linspace(0, 1, bins + 1) if strategy == "uniform" else np.percentile(p, np.linspace(0, 1, bins + 1) * 100)
    rows = np.bincount(np.searchsorted(edges[1:-1], p), minlength=bins)
    return float((abs(observed - mean) * rows[rows > 0]).sum() / len(p))


def boolean(p, y, weighted):
    w = rng.integers(1, 5, len(p)).astype(float) if weighted else np.ones(len(p))
    brier = brier_score_loss(y, p, sample_weight=w)
    rate = np.average(y, weights=w)
    isotonic = IsotonicRegression(out_of_bounds="clip").fit(p, y, sample_weight=w)
    fitted = isotonic.predict(p)
    relabelled = brier_score_loss(y, np.clip(fitted, 0, 1), sample_weight=w)
    clipped = np.clip(p, 0.005, 0.995)
    odds = np.log(clipped / (1 - clipped))
    design = np.column_stack([np.ones(len(p)), odds])
    copies = np.repeat(np.arange(len(p)), w.astype(int))
    logit = Logit(y[copies], design[copies]).fit(disp=0, method="newton", maxiter=100, tol=1e-14)
    z = ((y - p) * (1 - 2 * p)).sum() / np.sqrt(((1 - 2 * p) ** 2 * p * (1 - p)).sum())
    probes = [0.0, 0.03, 0.2, 0.415, 0.77, 1.0]
    return {
        "p": p.tolist(), "truth": y.tolist(), "weights": w.tolist() if weighted else None,
        "brier": brier, "skill": 1 - brier / (rate * (1 - rate)),
        "logLoss": log_loss(y, clipped, sample_weight=w),
        "logLossClippedLess": log_loss(y, np.clip(p, 1e-9, 1 - 1e-9), sample_weight=w),
        "clipped": int(((p < 0.005) | (p > 0.995)).sum()),
        "clippedAndWrong": int((np.where(y == 1, p, 1 - p) < 0.005).sum()),
        "auc": roc_auc_score(y, p, sample_weight=w), "aucError": delong(p, y),
        "miscalibration": brier - relabelled, "discrimination": rate * (1 - rate) - relabelled,
        "uncertainty": rate * (1 - rate),
        "curve": [[float(v), float(isotonic.predict([v])[0])] for v in np.unique(p)],
        "ece10": ece_width(p, y, 10, w),
        "eceCurve": [[bins, ece_curve(p[copies], y[copies], bins, "uniform")] for bins in (1, 7, 15)],
        "eceMassCurve": [[bins, ece_curve(p, y, bins, "quantile")] for bins in (1, 5, 23)]
        if len(np.unique(p)) == len(p) else [],
        "eceMass10": ece_mass(p, y, 10) if len(np.unique(p)) == len(p) else None,
        "spiegelhalter": [z, 2 * stats.norm.sf(abs(z))],
        "logistic": logit.params.tolist(),
        "isotonic": [[x, float(isotonic.predict([x])[0])] for x in probes],
    }


def table(rows, options, truth_by):
    logits = rng.normal(0, 1.6, (rows, options))
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    P = np.round(shares, 2)
    y = np.array([rng.choice(options, p=softmax(row * truth_by)) for row in logits])
    onehot = np.eye(options)[y]
    logs = np.log(np.maximum(P, 0.005))
    steps = (np.cumsum(P, axis=1) - np.cumsum(onehot, axis=1))[:, :-1]

    def loss(beta):
        x = beta * logs
        return float(np.mean(np.log(np.exp(x).sum(axis=1)) - x[np.arange(rows), y]))

    def slope(beta):
        q = np.exp(beta * logs)
        q /= q.sum(axis=1, keepdims=True)
        return float(np.mean((q * logs).sum(axis=1) - logs[np.arange(rows), y]))

    beta = optimize.brentq(slope, 0.1, 4, xtol=1e-15, rtol=1e-15)
    true_side = P[np.arange(rows), y]
    applied = np.exp(beta * logs[0])
    levels = P @ np.arange(options)
    return {
        "P": P.tolist(), "truth": y.tolist(),
        "brier": float(((P - onehot) ** 2).sum(axis=1).mean()),
        "logLoss": float(-np.log(np.clip(true_side, 0.005, 0.995)).mean()),
        "rps": float((steps**2).sum(axis=1).mean()),
        "temperature": 1 / beta, "temperatureLoss": loss(beta),
        "applied": (applied / applied.sum()).tolist(),
        "meanAbsoluteError": float(np.abs(levels - y).mean()),
        "spearman": float(stats.spearmanr(levels, y)[0]),
    }


def counts():
    pairs = [(0, 59), (1, 59), (3, 40), (20, 20), (7, 100), (49_000, 1_000_000), (250, 1000)]
    a, b = np.round(rng.beta(2, 3, 180), 2), np.round(rng.beta(2.6, 3, 240), 2)
    expected, actual = [0.1, 0.2, 0.3, 0.4], [0.15, 0.2, 0.25, 0.4]
    return {
        "clopperPearson": [[k, n, *proportion_confint(k, n, 0.05, "beta")] for k, n in pairs],
        "wilson": [[k, n, *proportion_confint(k, n, 0.05, "wilson")] for k, n in pairs],
        "mcnemar": [[x, y, mcnemar([[5, x], [y, 9]], exact=True).pvalue]
                    for x, y in [(0, 0), (3, 9), (10, 10), (1, 30), (200, 260), (0, 41)]],
        "ks": [a.tolist(), b.tolist(), float(stats.ks_2samp(a, b).statistic)],
        "psi": [expected, actual,
                float(sum((y - x) * np.log(y / x) for x, y in zip(expected, actual)))],
    }


def yes_no(n, digits, distort):
    p = rng.beta(0.7, 0.9, n)
    y = (rng.random(n) < np.clip(p**distort, 0, 1)).astype(int)
    return (np.round(p, digits) if digits else p), y


goldens = {
    "special": special(),
    "boolean": {
        "printed": boolean(*yes_no(400, 2, 1.4), False),
        "printedAndWeighted": boolean(*yes_no(300, 2, 0.8), True),
        "unrounded": boolean(*yes_no(230, None, 1.2), False),
    },
    "choice": table(250, 4, 0.7),
    "score": table(220, 6, 1.3),
    "counts": counts(),
}


target = pathlib.Path(__file__).parent / "goldens.json"
target.write_text(json.dumps(goldens, default=lambda number: number.item()) + "\n")
