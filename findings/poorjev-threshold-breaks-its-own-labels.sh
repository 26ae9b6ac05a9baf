#!/usr/bin/env bash
# Guess: a threshold that is fitted to keep at most 5 % errors may fail on new answers, but holds on the labels that it was fitted to,
# where the returned risk was counted.
# What happens: poorjev ("calibration: the one thing poorjev gets provably right") walks down the answers one by one, and may stop
# between two that print the same confidence. `confidence >= threshold` then takes all of them. With two decimals, as services
# print, four of five thresholds break the target on their own 300 labels, up to fourfold, while the returned risk says at most 5 %.
# The order of equal answers decides: a file with the right ones first gets a lower threshold than the same file reversed.
# Source: PyPI poorjev 0.1.0 (calibration.py fit_abstention_threshold); seen 2026-11-30.
# Output seen (1,000 fits for each, right as often as the confidence says):
#   300 labels, two decimals: returned risk at most 0.050, above 5 % on the same labels in 82% of fits, up to 0.20
#   300 labels, all decimals: returned risk at most 0.050, above 5 % on the same labels in 0% of fits, up to 0.05
#   the same labels, right ones first: accept from 0.88; wrong ones first: from 0.89
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv env
env/bin/pip install --quiet --no-compile --disable-pip-version-check poorjev==0.1.0
cat > run.py <<'PY'
import random, sys
from poorjev.calibration import fit_abstention_threshold
from poorjev.metrics import DecisionRecord

TARGET, LABELS, FITS = 0.05, 300, 1000

def record(draw, decimals):
    sure = draw.uniform(0.5, 1)
    printed = round(sure, decimals)
    return DecisionRecord(confidence=printed, correct=draw.random() < sure, prob_gold=printed, n_classes=2)

def risk_of(records, threshold):
    accepted = [one for one in records if one.confidence >= threshold]
    return sum(not one.correct for one in accepted) / max(1, len(accepted))

broken = {}
for name, decimals in {"two decimals": 2, "all decimals": 17}.items():
    draw, returned, own = random.Random(1), [], []
    for _ in range(FITS):
        records = [record(draw, decimals) for _ in range(LABELS)]
        threshold, _, risk = fit_abstention_threshold(records, TARGET)
        returned.append(risk)
        own.append(risk_of(records, threshold))
    broken[name] = sum(risk > TARGET for risk in own) / FITS
    print(f"{LABELS} labels, {name}: returned risk at most {max(returned):.3f}, above 5 % on the same labels in {broken[name]:.0%} of fits, up to {max(own):.2f}")

draw = random.Random(2)
ordered = sorted((record(draw, 2) for _ in range(LABELS)), key=lambda one: one.correct)
low, high = (fit_abstention_threshold(records, TARGET)[0] for records in (ordered[::-1], ordered))
print(f"the same labels, right ones first: accept from {low}; wrong ones first: from {high}")
sys.exit(0 if broken["two decimals"] > 0.7 and broken["all decimals"] == 0 and low < high else 1)
PY
env/bin/python run.py
