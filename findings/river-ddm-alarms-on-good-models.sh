#!/usr/bin/env bash
# Guess: of answers whose error rate never changes, a drift detector that documents "99 % of confidence" for its drifts calls
# about one stream in a hundred drifting, and a model that errs seldom no more often than one that errs often.
# What happens: River's DDM compares the error rate with the least that it has seen, plus three deviations of that least one. A
# model that is right in its first 31 labels has a least rate of 0 and no deviation, so its first mistake, whenever it
# comes, is a drift. The better the model, the likelier the false alarm: 82 % of streams with 1 % errors have one within
# 1,000 labels, half of them within about 100, and 28 % of those with 20 % errors. HDDM_A, beside it, has next to none.
# Source: PyPI river 0.26.1 (drift/binary/ddm.py), the newest; seen 2026-11-29.
# Output seen, of 200 streams of 1,000 labels each:
#   1 % wrong   drift in 82 % of DDM's streams,  0 % of HDDM_A's
#   5 % wrong   drift in 55 % of DDM's streams,  0 % of HDDM_A's
#   20 % wrong  drift in 28 % of DDM's streams,  2 % of HDDM_A's
#   right 500 times, then wrong once: drift True
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv env
env/bin/pip install --quiet --no-compile --disable-pip-version-check river==0.26.1
cat > run.py <<'PY'
import random
from river.drift.binary import DDM, HDDMA

def has_drift(detector, labels):
    """Whether any label (1: the answer was wrong) is called a drift."""
    for label in labels:
        detector.update(label)
        if detector.drift_detected:
            return True
    return False

def share(detector, error_rate):
    """How many streams of a constant error rate have a drift, in per cent."""
    chance = random.Random(0)
    streams = ([int(chance.random() < error_rate) for _ in range(1000)] for _ in range(200))
    return round(sum(has_drift(detector(), labels) for labels in streams) / 2)

seen = {rate: (share(DDM, rate), share(HDDMA, rate)) for rate in (0.01, 0.05, 0.2)}
for rate, shares in seen.items():
    print("{:10}  drift in {:2} % of DDM's streams, {:2} % of HDDM_A's".format(f"{rate:.0%} wrong".replace("%", " %"), *shares))
first_mistake = has_drift(DDM(), [0] * 500 + [1])
print("right 500 times, then wrong once: drift", first_mistake)
falling = seen[0.01][0] > 75 and seen[0.01][0] > seen[0.05][0] > seen[0.2][0] > 10
raise SystemExit(not (first_mistake and falling and max(other for _, other in seen.values()) <= 2))
PY
env/bin/python run.py
