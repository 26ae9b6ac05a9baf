#!/usr/bin/env bash
# Guess: recalibrating a service whose probabilities are right already changes next to nothing, if there are enough labels.
# What happens: scikit-learn's `CalibratedClassifierCV` with "sigmoid" (Platt's method, and what it takes if nothing is said)
# fits the logistic curve to the printed probabilities themselves, not to their logits. No such curve is the identity,
# so it pulls 0.99 to 0.95 and 0.01 to 0.05, with 20,000 labels as with 2,000, and the log loss rises. An act above 0.96
# never happens again. Its new "temperature" does take the logits of the same input, and leaves right answers alone.
# Source: PyPI scikit-learn 1.9.1 (calibration.py, _sigmoid_calibration and _convert_to_logits); seen 2026-11-29.
# Output seen, for answers of which exactly the printed share is a yes:
#   printed      0.01 0.10 0.50 0.90 0.99  log loss 0.354
#   sigmoid      0.05 0.08 0.50 0.92 0.95  log loss 0.364
#   temperature  0.01 0.10 0.50 0.90 0.99  log loss 0.354
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv env
env/bin/pip install --quiet --no-compile --disable-pip-version-check scikit-learn==1.9.1 numpy==2.4.6
cat > run.py <<'PY'
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import log_loss

class Service(ClassifierMixin, BaseEstimator):
    """Its probabilities are the features: a model that was asked before."""
    def fit(self, rows, truth):
        self.classes_ = np.unique(truth)
        return self
    def predict_proba(self, rows):
        return np.column_stack([1 - rows[:, 0], rows[:, 0]])
    def predict(self, rows):
        return (rows[:, 0] >= 0.5).astype(int)

random = np.random.default_rng(0)
printed = np.clip(np.round(random.beta(0.4, 0.4, 20_000), 2), 0.01, 0.99).reshape(-1, 1)
truth = (random.random(20_000) < printed[:, 0]).astype(int)
points = np.array([[0.01], [0.1], [0.5], [0.9], [0.99]])

service = Service().fit(printed, truth)
models = {"printed": service}
for method in ("sigmoid", "temperature"):
    models[method] = CalibratedClassifierCV(FrozenEstimator(service), method=method).fit(printed, truth)
losses, surest = {}, {}
for name, model in models.items():
    values = model.predict_proba(points)[:, 1]
    losses[name] = log_loss(truth, model.predict_proba(printed)[:, 1])
    surest[name] = values[-1]
    print(f"{name:12}", *(f"{value:.2f}" for value in values), f" log loss {losses[name]:.3f}")
holds = surest["sigmoid"] < 0.96 and losses["sigmoid"] > losses["printed"] + 0.005
raise SystemExit(not (holds and abs(surest["temperature"] - 0.99) < 0.005))
PY
env/bin/python run.py
