#!/usr/bin/env bash
# Guess: how well a judge's ranking agrees with a person's depends on the places, not on what the ranked things are called.
# What happens: Ragas takes the two ordered lists of names as if they were two raters' grades, and gives them to
# scikit-learn's quadratic kappa, which sorts the names and weighs a difference by how far apart they are in the
# alphabet. So an exchange of the first two places is agreement of 0.5 or complete disagreement (-1), after the names
# alone; a judge that reverses the list can do better than one that exchanges two neighbours. Kendall's tau knows places only.
# Source: PyPI ragas 0.4.3, the newest (metrics/ranking.py, get_correlation), scikit-learn 1.9.1; seen 2026-11-29.
# Output seen:
#   ale bun cod   first two exchanged: ragas  0.50 tau 0.33   reversed: ragas -1.00 tau -1.00
#   ale cod bun   first two exchanged: ragas -1.00 tau 0.33   reversed: ragas  0.50 tau -1.00
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv env
env/bin/pip install --quiet --no-compile --disable-pip-version-check scikit-learn==1.9.1 pydantic==2.14.4
# Without the packages that run a model, of which the newest do not import together.
env/bin/pip install --quiet --no-compile --disable-pip-version-check --no-deps ragas==0.4.3
cat > run.py <<'PY'
import importlib, sys, types
from pathlib import Path
from scipy.stats import kendalltau

# The metric's own file, between stand-ins for the ones that ask models.
package = Path(next(Path("env/lib").glob("python3*"))) / "site-packages/ragas/metrics"
for name in ("ragas", "ragas.metrics"):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [str(package)]
sys.modules["ragas.metrics.base"] = types.SimpleNamespace(SimpleLLMMetric=type("Metric", (), {}))
sys.modules["ragas.metrics.decorator"] = types.SimpleNamespace(RankingMetricProtocol=object, create_metric_decorator=None)
ranking = importlib.import_module("ragas.metrics.ranking")

def agreement(person, judge):
    """As Ragas and as Kendall see it."""
    ragas = ranking.RankingMetric.get_correlation(None, [person], [judge])
    return round(float(ragas), 2), round(float(kendalltau([0, 1, 2], [person.index(name) for name in judge])[0]), 2)

seen = []
for person in (["ale", "bun", "cod"], ["ale", "cod", "bun"]):
    first, second, third = person
    exchanged = agreement(person, [second, first, third])
    reverse = agreement(person, [third, second, first])
    shown = "first two exchanged: ragas {:5.2f} tau {:.2f}   reversed: ragas {:5.2f} tau {:.2f}"
    print(*person, " ", shown.format(*exchanged, *reverse))
    seen += [exchanged, reverse]
raise SystemExit(seen != [(0.5, 0.33), (-1.0, -1.0), (-1.0, 0.33), (0.5, -1.0)])
PY
env/bin/python run.py
