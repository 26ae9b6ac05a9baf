#!/usr/bin/env bash
# Guess: a 95 % interval for questions on the same documents, which Inspect's `ci_wilson(cluster=...)` documents as accounting
# for their correlation, holds the true accuracy in about 95 % of evaluations.
# What happens: if all answers are right, the spread between the documents is 0, and the interval falls back to the number of
# questions. Twenty questions on each of five documents are then a hundred independent ones, and the accuracy is "at least
# 0.93". With one document failed it may be anywhere from 0.22 to 0.98. If a document's questions are right or
# wrong together, in 90 % of documents, six evaluations in ten are perfect, and all of those miss. Plain `ci` prints 1.00 to 1.00.
# Source: PyPI inspect-ai 0.3.285 (scorer/_metrics/std.py, ci_wilson), the newest; seen 2026-11-30.
# Output seen:
#   5 of 5 documents right  0.93 to 1.00  (ci: 1.00 to 1.00)
#   4 of 5 documents right  0.22 to 0.98  (ci: 0.24 to 1.36)
#   true accuracy 0.90: 40 % of 95 % intervals of 5 documents hold it, 66 % of those of 10
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv env
env/bin/pip install --quiet --no-compile --disable-pip-version-check inspect-ai==0.3.285
cat > run.py <<'PY'
import random
from inspect_ai.scorer import SampleScore, Score, ci, ci_wilson

def interval(documents, metric):
    """The limits for 20 questions on each document, all right or all wrong."""
    scores = [
        SampleScore(score=Score(value="C" if right else "I"), sample_metadata={"document": number})
        for number, right in enumerate(documents)
        for _ in range(20)
    ]
    limits = metric(cluster="document")(scores)
    return float(limits["lower"]), float(limits["upper"])

def share(count):
    """The per cent of 200 evaluations whose interval holds the true accuracy of 0.9."""
    chance = random.Random(0)
    runs = [interval([chance.random() < 0.9 for _ in range(count)], ci_wilson) for _ in range(200)]
    return round(sum(lower <= 0.9 <= upper for lower, upper in runs) / 2)

seen = []
for right in (5, 4):
    documents = [True] * right + [False] * (5 - right)
    wilson, plain = ("{:.2f} to {:.2f}".format(*interval(documents, metric)) for metric in (ci_wilson, ci))
    print(f"{right} of 5 documents right  {wilson}  (ci: {plain})")
    seen += [wilson, plain]
five, ten = share(5), share(10)
print(f"true accuracy 0.90: {five} % of 95 % intervals of 5 documents hold it, {ten} % of those of 10")
expected = ["0.93 to 1.00", "1.00 to 1.00", "0.22 to 0.98", "0.24 to 1.36"]
raise SystemExit(seen != expected or not 30 < five < 50 or not 50 < ten < 75)
PY
env/bin/python run.py
