#!/usr/bin/env bash
# Guess: two tools that audit decision models give one expected calibration error for the same answers and ten equal bins.
# What happens: jevkit-calibrate puts 0.80 into the bin of 0.85 (closed below), laya-evals into that of 0.75 (closed above, as
# in the paper that it cites). Services print two decimals, so about a tenth of all answers are on an edge, and which
# neighbours their errors cancel with depends on the tool: each passes a limit of 0.1 where the other one fails it, one for
# each set of answers below. Brier's score has no bins and agrees.
# Source: PyPI jevkit-calibrate 0.1.0 (metrics.py, reliability_bins), laya-evals 0.1.0 (calibration.py, _bin_index); seen 2026-11-29.
# Output seen, of 100 answers each, half of those with 0.80 right and all others:
#   0.80 and 0.85: jevkit-calibrate 0.075, laya-evals 0.225, Brier 0.181 and 0.181
#   0.80 and 0.75: jevkit-calibrate 0.275, laya-evals 0.025, Brier 0.201 and 0.201
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv env
# Without the packages that run a model: the measures need none of them.
env/bin/pip install --quiet --no-compile --disable-pip-version-check --no-deps jevkit-calibrate==0.1.0 jevkit-core==0.2.0 laya-evals==0.1.0
cat > run.py <<'PY'
import sys
from jevkit_calibrate import Observation, brier_score, expected_calibration_error
from laya_evals import calibration as laya

seen = []
for other in (0.85, 0.75):
    answers = [(0.8, turn % 2 == 0) for turn in range(50)] + [(other, True)] * 50
    observations = [Observation(probability, correct) for probability, correct in answers]
    values, outcomes = zip(*answers)
    errors = [expected_calibration_error(observations, n_bins=10), laya.ece(values, outcomes, n_bins=10)]
    briers = [brier_score(observations), laya.brier_score(values, outcomes)]
    shown = [f"{number:.3f}" for number in errors + briers]
    print("0.80 and {}: jevkit-calibrate {}, laya-evals {}, Brier {} and {}".format(other, *shown))
    seen.append(shown)
sys.exit(0 if seen == [["0.075", "0.225", "0.181", "0.181"], ["0.275", "0.025", "0.201", "0.201"]] else 1)
PY
env/bin/python run.py
