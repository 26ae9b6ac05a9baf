#!/usr/bin/env bash
# Guess: a gate "at least 60 % of the answers are sure enough to be used at a precision of 90 %" passes the better of two models
# if it passes the worse: here one that is right in 95 of 100 cases at every probability it prints.
# What happens: jevassert goes through the thresholds 0.5 to 0.95 and keeps the last one whose precision holds, which is the one
# with the least coverage. The model that may be used on all 100 answers (precision 0.95 at 0.5) is judged by the 20 answers
# at 0.95 and fails; make it worse, so that its surest answers are no longer right, and it passes. The threshold
# that `check --target-precision` suggests for the same recording is the one with the most coverage.
# Source: PyPI jevassert 0.2.1, the newest (metrics.py, evaluate_gates, `best = row`; suggest_threshold); seen 2026-11-30.
# Output seen:
#   95% right: suggested p >= 0.50 for 100 of 100; gate: coverage 0.20 at precision >= 0.90 (threshold 0.95) >= 0.60: failed
#   91% right: suggested p >= 0.50 for 100 of 100; gate: coverage 1.00 at precision >= 0.90 (threshold 0.60) >= 0.60: passed
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv env
env/bin/pip install --quiet --no-compile --disable-pip-version-check jevassert==0.2.1
mkdir refunds
cat > refunds/pack.yaml <<'YAML'
spec: 0
id: refunds
version: 1.0.0
license: MIT
tested: null
description: Does the customer ask for money back?
state: {description: A mail., fields: [text]}
questions: {refund: {type: noul, instructions: "Does the customer ask for money back?"}}
YAML
echo "min_coverage_at_precision: {precision: 0.9, min_coverage: 0.6}" > refunds/gates.yaml
cat > run.py <<'PY'
import json, sys
from jevassert.metrics import build_items, compute, evaluate_gates, suggest_threshold
from jevassert.packs import load_pack

# Five probabilities, 20 answers each; the number of wrong ones among the 20.
models = {"better": {0.65: 1, 0.75: 1, 0.85: 1, 0.92: 1, 0.96: 1}, "worse": {0.65: 0, 0.75: 1, 0.85: 2, 0.92: 3, 0.96: 3}}
seen = {}
for name, wrong in models.items():
    rows = [(probability, number >= count) for probability, count in wrong.items() for number in range(20)]
    with open("refunds/cases.jsonl", "w") as cases:
        for number, (_, right) in enumerate(rows):
            cases.write(json.dumps({"id": f"case-{number:03}", "state": {"text": f"mail {number}"}, "expect": {"refund": right}}) + "\n")
    answers = {f"case-{number:03}": {"answers": {"refund": {"type": "noul", "noul": probability}}} for number, (probability, _) in enumerate(rows)}
    pack = load_pack("refunds")
    metrics, suggested = compute(pack, answers), suggest_threshold(build_items(pack, answers)[0], 0.9)
    gate = evaluate_gates(pack, metrics)[0]
    seen[name] = metrics.accuracy, suggested.coverage, gate.ok
    print(f"{metrics.accuracy:.0%} right: suggested p >= {suggested.threshold:.2f} for {suggested.n_accepted} of 100; gate: {gate.detail}: {'passed' if gate.ok else 'failed'}")
sys.exit(0 if seen["better"][0] > seen["worse"][0] and not seen["better"][2] and seen["worse"][2] else 1)
PY
env/bin/python run.py
