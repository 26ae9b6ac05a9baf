#!/usr/bin/env bash
# Guess: a check of a new release against recorded answers complains if an answer becomes less sure, not if it becomes surer.
# What happens: for yes/no questions jevcheck takes the probability of yes as the confidence, whatever the answer is. A "no"
# that becomes surer (0.10 to 0.02) fails the comparison as a regression of confidence, and a "no" that becomes nearly a
# coin toss (0.10 to 0.45) is "unchanged". The same number feeds its gate: the surest no is turned away, with a reason that
# calls it unsure, and only a yes can be automatic. Choices and scores, which report a confidence, are compared as one expects.
# Source: PyPI jevcheck 0.2.2 (answers.py, mapped_confidence; eval.py, _confidence_diff; gate.py); seen 2026-11-29.
# Output seen:
#   0.10 -> 0.02  confidence_regression  gate reject
#   0.10 -> 0.45  unchanged              gate reject
#   0.90 -> 0.98  unchanged              gate auto
#   0.90 -> 0.55  confidence_regression  gate ask_human
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv env
env/bin/pip install --quiet --no-compile --disable-pip-version-check jevcheck==0.2.2 typesafe-sdk==0.7.5
cat > run.py <<'PY'
import sys
from jevcheck import Contract, Gate, JevResponse, NoulAnswer, compare

fraud = {"type": "noul", "instructions": "Is it fraud?"}

def reply(model, probability):
    return JevResponse(model=model, answers={"fraud": NoulAnswer(noul=probability)})

def outcome(before, after):
    """What the comparison of two pinned releases says of one mail, if a drop of 0.05 is allowed."""
    case = {"id": "mail", "state": "Hello", "questions": {"fraud": fraud}, "expect": {"fraud": {"noul_true": before >= 0.5}}}
    contract = Contract(baseline_model="jev-1.13.0", defaults={"confidence_tolerance": 0.05}, cases=[case])
    recorded = {"mail": reply("jev-1.13.0", before)}
    report = compare(contract, recorded, lambda _: reply("jev-1.14.0", after), candidate_model="jev-1.14.0")
    return report.results[0].outcome.value

seen = []
for before, after in ((0.1, 0.02), (0.1, 0.45), (0.9, 0.98), (0.9, 0.55)):
    action = Gate().decide_answer(NoulAnswer(noul=after)).action.value
    seen.append((outcome(before, after), action))
    print(f"{before:.2f} -> {after:.2f}  {seen[-1][0]:21}  gate {action}")
expected = [("confidence_regression", "reject"), ("unchanged", "reject"), ("unchanged", "auto"), ("confidence_regression", "ask_human")]
sys.exit(0 if seen == expected else 1)
PY
env/bin/python run.py
