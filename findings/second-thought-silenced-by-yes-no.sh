#!/usr/bin/env bash
# Guess: a drift watch over the reviewed answers of a deployment sees more if more questions are asked, or as much as before.
# What happens: second-thought's `detect_drift` watches the calibration error by default, which needs a `confidence` in each answer. The
# vendor gives none to yes/no answers. One yes/no question beside the others, and the error of a day is None, all days are left
# out, and the report is empty: `latest_out_of_control` is False for a model that has answered wrongly for a week. An empty report
# looks like a healthy one. With the choice alone, the same answers are an alarm on the first bad day. `question_id=` in
# `bucketed_evaluation` is the way out for the choice; for yes/no questions `metric="mean_brier"` is.
# Source: PyPI second-thought 0.1.0 (evaluation.py evaluate, drift.py detect_drift); seen 2026-11-30.
# Output seen:
#   choice alone: 12 days judged, bad days found: 6 of 6, latest out of control: True
#   with a yes/no question: 0 days judged, bad days found: 0 of 6, latest out of control: False
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv env
env/bin/pip install --quiet --no-compile --disable-pip-version-check second-thought==0.1.0
cat > run.py <<'PY'
import random, sys
from second_thought.drift import bucketed_evaluation, detect_drift
from second_thought.schema import Correction, DecisionEvent, Prediction, QuestionSpec

DAYS, GOOD, A_DAY = 12, 6, 40

def event(day, draw, has_yes_no):
    """A reviewed answer in the vendor's form: right as often as it is sure, and after GOOD days only by chance."""
    sure = draw.choice([0.7, 0.8, 0.9])
    is_right = draw.random() < (sure if day < GOOD else 0.3)
    choice = Prediction(type="choice", choice="billing", probabilities={"billing": sure, "other": 1 - sure}, confidence=sure)
    questions, predictions = {"team": QuestionSpec(type="choice", instructions="Which team?")}, {"team": choice}
    truths = {"team": "billing" if is_right else "other"}
    if has_yes_no:
        questions["angry"] = QuestionSpec(type="noul", instructions="Is the customer angry?")
        predictions["angry"] = Prediction(type="noul", noul=sure)
        truths["angry"] = is_right
    labels = {name: Correction(question_id=name, value=value, source="human_correction") for name, value in truths.items()}
    return DecisionEvent(timestamp=86400.0 * day + draw.random() * 80000, provider="jev", model="m-1", input_state="text", questions=questions, predictions=predictions, corrections=labels)

seen = {}
for name, has_yes_no in {"choice alone": False, "with a yes/no question": True}.items():
    draw = random.Random(3)
    report = detect_drift(bucketed_evaluation([event(day, draw, has_yes_no) for day in range(DAYS) for _ in range(A_DAY)]))
    bad = sum(not point.in_control for point in report.points[GOOD:])
    seen[name] = len(report.points), bad, report.latest_out_of_control
    print(f"{name}: {len(report.points)} days judged, bad days found: {bad} of {DAYS - GOOD}, latest out of control: {report.latest_out_of_control}")
sys.exit(0 if seen == {"choice alone": (DAYS, DAYS - GOOD, True), "with a yes/no question": (0, 0, False)} else 1)
PY
env/bin/python run.py
