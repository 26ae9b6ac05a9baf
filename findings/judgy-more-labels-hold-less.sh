#!/usr/bin/env bash
# Guess: a 95 % interval of the true pass rate, corrected by labels for the judge's mistakes, holds the truth in about 95 % of
# evaluations, and more labels bring it nearer to that.
# What happens: judgy resamples the labels alone. The judged outputs that are being rated count as if they were endless, so the
# interval has only the doubt about the judge. The more labels, the narrower it is and the seldomer it holds, whether the truth is
# that of the system or of the very outputs that were judged: its mistakes among these vary too. A judge that agrees with
# all labels gets an interval of no width ("0.80 to 0.80"). Its README calls the result a 95 % interval of the true pass rate.
# Source: PyPI judgy 0.1.0, the newest (core.py, estimate_success_rate); seen 2026-11-30.
# Output seen:
#   50 labels, 100 outputs: holds the system's rate in 80%, that of these outputs in 90% of evaluations
#   200 labels, 100 outputs: holds the system's rate in 58%, that of these outputs in 71% of evaluations
#   2000 labels, 100 outputs: holds the system's rate in 27%, that of these outputs in 29% of evaluations
#   30 labels, all agree, 40 of 50 outputs pass: 0.80 to 0.80
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv env
env/bin/pip install --quiet --no-compile --disable-pip-version-check judgy==0.1.0 numpy==2.4.6
cat > run.py <<'PY'
import sys
import numpy as np
from judgy import estimate_success_rate

RATE, CORRECT, OUTPUTS, EVALUATIONS = 0.8, 0.9, 100, 150

def judged(draw, truths):
    """What a judge says that is right in 90 % of outputs, passed or not."""
    return np.where(draw.random(len(truths)) < CORRECT, truths, 1 - truths)

def evaluation(draw, labels):
    """The interval of one evaluation, and the true rate of its outputs."""
    known, outputs = ((draw.random(count) < RATE).astype(int) for count in (labels, OUTPUTS))
    found = estimate_success_rate(known, judged(draw, known), judged(draw, outputs), bootstrap_iterations=300)
    return found[1], found[2], outputs.mean()

seen = []
for labels in (50, 200, 2000):
    draw = np.random.default_rng(7); np.random.seed(7)
    found = [evaluation(draw, labels) for _ in range(EVALUATIONS)]
    system = np.mean([low <= RATE <= high for low, high, _ in found])
    own = np.mean([low <= share <= high for low, high, share in found])
    seen.append((system, own))
    print(f"{labels} labels, {OUTPUTS} outputs: holds the system's rate in {system:.0%}, that of these outputs in {own:.0%} of evaluations")
truths = [1] * 24 + [0] * 6
_, low, high = estimate_success_rate(truths, truths, [1] * 40 + [0] * 10, bootstrap_iterations=300)
print(f"30 labels, all agree, 40 of 50 outputs pass: {low:.2f} to {high:.2f}")
sys.exit(0 if seen[0][0] > seen[1][0] > seen[2][0] and seen[2][0] < 0.6 and seen[2][1] < 0.6 and low == high else 1)
PY
env/bin/python run.py
