#!/usr/bin/env bash
# Guess: a model that says 0.9 of each case, and is right in 90 of 100, has an expected calibration error of 0, and passes a gate
# of 0.1; and recordings of one model with one, two or four decimals have nearly the same error.
# What happens: jevassert sorts pairs of probability and verdict and cuts them into ten bins of equal size. Where more cases print
# one probability than fit into a bin, the sort puts the wrong ones first, so that bins are all wrong or all right. The
# calibrated model gets 0.18 and fails the gate, and so would one that prints one decimal. The recordings below differ in
# nothing but the decimals. The README says of ties only that they skew the interval of the error slightly.
# Source: PyPI jevassert 0.2.1, the newest (metrics.py, expected_calibration_error; README, "max_ece"); seen 2026-11-30.
# Output seen:
#   says 0.9 and is right in 90 of 100: error 0.180, gate of 0.10 failed (exit 1)
#   4000 cases of a calibrated model: error 0.02 with 4 decimals, 0.01 with 2, 0.17 with 1
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
echo "max_ece: 0.1" > refunds/gates.yaml
cat > run.py <<'PY'
import json, random, re, subprocess, sys
from jevassert.metrics import expected_calibration_error

with open("refunds/cases.jsonl", "w") as cases, open("answers.jsonl", "w") as answers:
    for number in range(100):
        name = f"case-{number:03}"
        cases.write(json.dumps({"id": name, "state": {"text": f"mail {number}"}, "expect": {"refund": number < 90}}) + "\n")
        answers.write(json.dumps({"case_id": name, "answers": {"refund": {"type": "noul", "noul": 0.9}}}) + "\n")
checked = subprocess.run([f"{sys.prefix}/bin/jevassert", "check", "refunds", "-p", "answers.jsonl"], capture_output=True, text=True)
error = re.search(r"ece (0\.\d+) <= 0\.100", checked.stdout)
if error is None: sys.exit(checked.stdout + checked.stderr)
print(f"says 0.9 and is right in 90 of 100: error {error[1]}, gate of 0.10 failed (exit {checked.returncode})")

draw = random.Random(1)
sure = [0.5 + draw.random() / 2 for _ in range(4000)]
right = [draw.random() < share for share in sure]
found = {decimals: expected_calibration_error([round(share, decimals) for share in sure], right) for decimals in (4, 2, 1)}
print(f"4000 cases of a calibrated model: error {found[4]:.2f} with 4 decimals, {found[2]:.2f} with 2, {found[1]:.2f} with 1")
sys.exit(0 if checked.returncode == 1 and error[1] == "0.180" and found[4] < 0.03 and found[1] > 0.1 else 1)
PY
env/bin/python run.py
