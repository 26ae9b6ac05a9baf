#!/usr/bin/env bash
# Guess: a tool that answers "no threshold reaches the target precision with this much data" for a log does not advise to act on
# its answers if it is asked, for the same log and target, for a band of answers to review between acting and refusing.
# What happens: `jev-why threshold --selective` asks the same function, once for yes and once for no, and drops its `achieved`.
# If no threshold holds, it takes the one where the labels happened to look best, on however few answers, and prints
# "auto-accept above" it, in the sentence and with the exit code of a kept target. Here the labels are coin flips.
# Source: PyPI jev-why 0.1.0, the newest (thresholds.py, selective_thresholds; cli.py, cmd_threshold); seen 2026-11-30.
# Output seen:
#   exit 3: no threshold reaches the target precision with this much data. The best available is 0.667 at 0.970, covering 3%.
#   exit 0: auto-accept above 0.970, auto-reject below 0.000, send 96% for review.
#   of 9 answers at 0.970 and above, 6 are yes
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv env
env/bin/pip install --quiet --no-compile --disable-pip-version-check jev-why==0.1.0
cat > run.py <<'PY'
import json, random, subprocess, sys

draw = random.Random(3)
shares = [round(draw.random(), 2) for _ in range(300)]
rows = [(share, int(draw.random() < 0.5)) for share in shares]
with open("log.jsonl", "w") as log:
    log.writelines(json.dumps({"probability": share, "label": label}) + "\n" for share, label in rows)
asked = ["threshold", "--log", "log.jsonl", "--prob-field", "probability", "--label-field", "label", "--target-precision", "0.95"]
seen = []
for more in ([], ["--selective", "--target-npv", "0.95"]):
    found = subprocess.run([f"{sys.prefix}/bin/jev-why", *asked, *more], capture_output=True, text=True)
    seen.append((found.returncode, found.stdout))
    print(f"exit {found.returncode}: {found.stdout.strip()}{found.stderr}")
labels = [label for share, label in rows if share >= 0.97]
print(f"of {len(labels)} answers at 0.970 and above, {sum(labels)} are yes")
(code, text), (selective_code, selective_text) = seen
sys.exit(0 if code != 0 and "no threshold" in text and selective_code == 0 and selective_text.startswith("auto-accept above 0.970") else 1)
PY
env/bin/python run.py
