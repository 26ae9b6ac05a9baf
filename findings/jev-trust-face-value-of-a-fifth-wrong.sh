#!/usr/bin/env bash
# Guess: a tool that measures what a model's confidence is worth, and alerts when "a decision is confident enough to act on but the
# domain has not earned that confidence yet", alerts for a model that says 0.95 and was right in 76 of its last 100 answers.
# What happens: jev-trust calls that FACE_VALUE ("stated confidence may be used at face value") and is silent. Its verdict is one minus
# the calibration error with a bar at 0.80, so the stated confidence may be 20 points too high, while the number of errors at 0.95 is then
# five times what was said. The same result has `overconfident` True and an `effective_confidence` of 0.76, but the alert
# asks for the verdict alone. Of answers given with 0.90, more than three in ten have to be wrong before it alerts.
# Source: PyPI jev-trust 0.2.1, the newest (calib.py, verdict_for; trust.py, decide); seen 2026-12-01.
# Output seen:
#   right in 95 of 100: FACE_VALUE, worth 0.95, overconfident False, alerts 0
#   right in 76 of 100: FACE_VALUE, worth 0.76, overconfident True, alerts 0
#   right in 74 of 100: DISCOUNT, worth 0.74, overconfident True, alerts 1
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv v
v/bin/pip install -q --disable-pip-version-check jev-trust==0.2.1
cat > run.py <<'PY'
import sys
from jev_trust import TrustedJev
from jev_trust.calib import Prediction

seen = []
for right in (95, 76, 74):
    alerts = []
    jev = TrustedJev("key", log_path=f"{right}.jsonl", on_overconfidence=alerts.append)
    jev.client.decide = lambda state, questions: {"answers": {"spam": {"type": "noul", "noul": 0.95}}}
    for number in range(100):
        correct = number < right
        jev.state.add(Prediction("spam", 0.95, int(correct), 0.95 if correct else 0.05))
    result = jev.decide({"mail": "hello"}, {"spam": {"type": "noul", "instructions": "Is it spam?"}})["spam"]
    seen.append((result.domain_verdict, result.overconfident, len(alerts)))
    print(f"right in {right} of 100: {result.domain_verdict}, worth {result.effective_confidence}, "
          f"overconfident {result.overconfident}, alerts {len(alerts)}")
sys.exit(seen != [("FACE_VALUE", False, 0), ("FACE_VALUE", True, 0), ("DISCOUNT", True, 1)])
PY
v/bin/python run.py
