#!/usr/bin/env bash
# Guess: whether four of 60 cases that got worse, and none that got better, are a regression does not depend on whether the metric
# writes them as passed and failed or as the same numbers, 1 and 0.
# What happens: evalproof's gate tests verdicts with the exact McNemar test and scores with a bootstrap, at the same 5 %. Four
# cases are noise as verdicts (p = 0.125: the change passes), and a regression as scores (p = 0.03: the build fails), so
# a scorer that leaves `passed` out is much stricter. The 95 % interval beside a verdict comes from the bootstrap too: it
# excludes 0 in the line that says "not distinguishable from noise". With six cases the two agree.
# Source: PyPI evalproof 0.2.1, the newest (compare.py, compare_metric; stats.py; gate.py); seen 2026-11-30.
# Output seen:
#   4 of 60 worse as verdicts: exact McNemar p=0.125, interval -0.13 to -0.02, gate warn
#   4 of 60 worse as scores: paired bootstrap p=0.027, interval -0.13 to -0.02, gate fail
#   6 of 60 worse as verdicts: exact McNemar p=0.031, interval -0.18 to -0.03, gate fail
#   6 of 60 worse as scores: paired bootstrap p=0.002, interval -0.18 to -0.03, gate fail
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv env
env/bin/pip install --quiet --no-compile --disable-pip-version-check evalproof==0.2.1
cat > run.py <<'PY'
import sys
from evalproof.compare import compare_runs
from evalproof.config import GateConfig
from evalproof.gate import decide
from evalproof.models import CaseResult, Run, RunInfo, Score, SystemOutput

def run(worse, has_verdicts):
    """A run of 60 cases of which the first ones fail."""
    info = RunInfo(suite="s", system="m", dataset_path="d", dataset_hash="h", started_at="", finished_at="", wall_time_s=1, evalproof_version="0.2.1", seed=0)
    values = [0.0 if case < worse else 1.0 for case in range(60)]
    scores = [Score(value=value, passed=value == 1 if has_verdicts else None) for value in values]
    return Run(info=info, results=[CaseResult(case_id=f"{case:02}", output=SystemOutput(output=""), scores={"judge": score}) for case, score in enumerate(scores)])

seen = {}
for worse in (4, 6):
    for name, has_verdicts in {"verdicts": True, "scores": False}.items():
        compared = compare_runs(run(0, has_verdicts), run(worse, has_verdicts))
        found, gate = compared.metrics["judge"], decide(compared, GateConfig(metric="judge", max_drop=0.03))
        seen[worse, name] = gate.exit_code, found.ci_high
        print(f"{worse} of 60 worse as {name}: {found.test} p={found.p_value:.3f}, interval {found.ci_low:+.2f} to {found.ci_high:+.2f}, gate {gate.status}")
codes = {key: code for key, (code, _) in seen.items()}
sys.exit(0 if codes == {(4, "verdicts"): 0, (4, "scores"): 1, (6, "verdicts"): 1, (6, "scores"): 1} and seen[4, "verdicts"][1] < 0 else 1)
PY
env/bin/python run.py
