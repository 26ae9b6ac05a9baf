#!/usr/bin/env bash
# Guess: to run the candidate more often than the saved baseline only measures it better. A gate that asks "is the candidate
# measurably worse?" cannot fail an agent because it was run five times, least of all one that succeeds more often.
# What happens: holdline's gate counts a case as passed if all of its repeats passed, and compares these verdicts by case with the
# exact McNemar test, whatever the number of repeats on each side. An agent that rose from 85 to 93 % is a "significant regression"
# if its baseline ran once and it five times, while the estimate in the same result says that it gained. The other way round,
# an agent that fell from 93 to 85 % has more cases fixed than broken. No message names the two numbers of repeats.
# Source: PyPI holdline 0.2.1, the newest (gate.py, _all_passed and gate; README, "Gate the pull request"); seen 2026-11-30.
# Output seen:
#   85 % (1 run), then 93 % (5 runs): change +0.09, 55 cases broke, 23 fixed, gate FAIL
#   85 % (5 runs), then 93 % (5 runs): change +0.08, 25 cases broke, 86 fixed, gate PASS
#   93 % (5 runs), then 85 % (1 run): change -0.05, 13 cases broke, 49 fixed, gate PASS
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv env
env/bin/pip install --quiet --no-compile --disable-pip-version-check holdline==0.2.1
cat > run.py <<'PY'
import random, sys
import holdline
from holdline.gate import gate
from holdline.suite import from_list

suite = from_list([{"id": f"case-{number:03}", "input": str(number), "expected": {"answer": "yes"}} for number in range(200)])

def measured(name, share, repeats):
    """A run of an agent that answers each case right with the same probability at each repeat."""
    draw = random.Random(name)
    return holdline.run(lambda _: "yes" if draw.random() < share else "no", suite, repeats=repeats, workers=1)

seen = []
for before, runs_before, after, runs_after in ((85, 1, 93, 5), (85, 5, 93, 5), (93, 5, 85, 1)):
    found = gate(measured(f"agent {runs_after}", after / 100, runs_after), measured("baseline", before / 100, runs_before))
    count = lambda runs: f"{runs} run{'s' * (runs > 1)}"
    print(f"{before} % ({count(runs_before)}), then {after} % ({count(runs_after)}): change {found.delta['estimate']:+.2f}, "
          f"{len(found.regressions)} cases broke, {len(found.fixes)} fixed, gate {found.verdict}")
    seen.append((found.verdict, found.delta["estimate"] > 0, len(found.regressions) > len(found.fixes)))
sys.exit(0 if seen == [("FAIL", True, True), ("PASS", True, False), ("PASS", False, False)] else 1)
PY
env/bin/python run.py
