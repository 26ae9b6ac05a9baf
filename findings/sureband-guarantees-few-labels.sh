#!/usr/bin/env bash
# Guess: "guarantee coverage for each category independently" at 99 % means that a category with too few labels to tell
# anything gets the set of all answers, or an error: sureband's README advises this mode for rare or critical categories.
# What happens: split conformal needs 99 labels of a category for 99 %, since the rank is ceil((n + 1) * 0.99). With fewer, sureband
# cuts the level to 1 and takes the largest score that it has seen, so the true coverage is n / (n + 1), and each result still
# has `covered_at` 0.99. The rarer the category, the further from its promise: of frauds with 9 labels one in ten is outside its
# set, ten times what is promised. Nothing tells a kept guarantee from a broken one but a count in a private field.
# Source: PyPI sureband 0.1.2 (conformal.py quantile_level, calibrator.py fit with mondrian=True); seen 2026-11-30.
# Output seen (4,000 calibrations, one new record of each category after each):
#   other: 150 labels, covered_at 0.99, covered 99.8%
#   refund: 30 labels, covered_at 0.99, covered 97.3%
#   fraud: 9 labels, covered_at 0.99, covered 89.3%
#   threat: 3 labels, covered_at 0.99, covered 74.8%
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv env
env/bin/pip install --quiet --no-compile --disable-pip-version-check sureband==0.1.2
cat > run.py <<'PY'
import math, random, sys
from sureband import Calibrator

labelled = {"other": 150, "refund": 30, "fraud": 9, "threat": 3}
draw = random.Random(7)

def answer(truth):
    """A judge that leans to the truth, sometimes far from it; all records of a category are alike."""
    weights = {name: math.exp(draw.gauss(1.5 if name == truth else 0, 1)) for name in labelled}
    return {"type": "choice", "probabilities": {name: weight / sum(weights.values()) for name, weight in weights.items()}}

rounds, covered, promised = 4000, dict.fromkeys(labelled, 0), set()
for _ in range(rounds):
    calibrator = Calibrator(alpha=0.01, mondrian=True)
    calibrator.fit([(answer(name), name) for name, count in labelled.items() for _ in range(count)])
    for name in labelled:
        result = calibrator.wrap(answer(name))
        promised.add(result.covered_at)
        covered[name] += name in result.prediction_set
for name, count in labelled.items():
    print(f"{name}: {count} labels, covered_at {min(promised)}, covered {covered[name] / rounds:.1%}")
kept, broken = covered["other"] / rounds, [covered[name] / rounds < limit for name, limit in {"refund": 0.98, "fraud": 0.93, "threat": 0.85}.items()]
sys.exit(0 if promised == {0.99} and kept > 0.985 and all(broken) else 1)
PY
env/bin/python run.py
