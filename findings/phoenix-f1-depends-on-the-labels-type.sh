#!/usr/bin/env bash
# Guess: precision, recall and F1 of the same answers are the same, whether the labels are written 1 and 0 or "yes" and "no".
# What happens: Phoenix's evaluator counts the class 1 alone if the labels are the numbers 0 and 1 or booleans, and takes the
# mean over both classes for all other labels, "1" and "0" of a CSV among them. The scores have the same names. Of ten scams of a
# hundred mails, a filter that finds five with five false alarms has an F1 of 0.50, or of 0.72 in words. A batch that happens
# to have no yes at all is read in the second way too: it scores 1.00 if no answer is yes, and 0.00 with one false alarm of
# fifty, so the mean over batches is neither measure. With `positive_label` set, all spellings of the first table give 0.50.
# Source: PyPI arize-phoenix-evals 3.9.4 (metrics/precision_recall.py, _resolve_positive_label), the newest; seen 2026-11-30.
# Output seen:
#   1 and 0         precision 0.50  recall 0.50  f1 0.50
#   True and False  precision 0.50  recall 0.50  f1 0.50
#   yes and no      precision 0.72  recall 0.72  f1 0.72
#   '1' and '0'     precision 0.72  recall 0.72  f1 0.72
#   0 alone         precision 1.00  recall 1.00  f1 1.00
#   one false 1     precision 0.00  recall 0.00  f1 0.00
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv env
env/bin/pip install --quiet --no-compile --disable-pip-version-check arize-phoenix-evals==3.9.4
cat > run.py <<'PY'
from phoenix.evals.metrics import PrecisionRecallFScore

def scores(yes, no, truths, answers, **options):
    """The three scores of one batch, with the labels as they are written."""
    written = [[yes if label else no for label in labels] for labels in (truths, answers)]
    found = PrecisionRecallFScore(**options).evaluate(dict(zip(("expected", "output"), written)))
    return [f"{score.name} {score.score:.2f}" for score in found]

truths = [True] * 10 + [False] * 90
answers = [True] * 5 + [False] * 5 + [True] * 5 + [False] * 85
batches = {
    "1 and 0": (1, 0, truths, answers),
    "True and False": (True, False, truths, answers),
    "yes and no": ("yes", "no", truths, answers),
    "'1' and '0'": ("1", "0", truths, answers),
    "0 alone": (1, 0, [False] * 50, [False] * 50),
    "one false 1": (1, 0, [False] * 50, [False] * 49 + [True]),
}
seen = {name: scores(*batch) for name, batch in batches.items()}
for name, found in seen.items():
    print(name.ljust(15), "  ".join(found))
named = [scores(*batches[name], positive_label=batches[name][0]) for name in list(batches)[:4]]
as_seen = [found[2] for found in seen.values()] == [f"f1 {f1}" for f1 in ("0.50", "0.50", "0.72", "0.72", "1.00", "0.00")]
raise SystemExit(not as_seen or any(found[2] != "f1 0.50" for found in named))
PY
env/bin/python run.py
