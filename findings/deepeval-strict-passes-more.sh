#!/usr/bin/env bash
# Guess: an answer that fails deepeval's JevEval at a threshold of 0.9 cannot pass it in strict mode, which is documented as
# "1 for perfection, 0 otherwise" and sets the threshold to 1.
# What happens: strict mode first turns each answer into passed or not, with a bar of its own: a yes from 0.5, of levels and
# options the likeliest. So P(yes) = 0.5, a coin toss, is perfection. Of a choice it looks only at the options that earn
# credit: "right" with 0.26 beside "wrong" with 0.25 passes, although the answer itself is "none" (nobody asked for a
# refund) with 0.49. The threshold that looked laxer refuses both.
# Source: PyPI deepeval 4.3.1 (metrics/jev_eval/utils.py, passes_strictly); seen 2026-11-29.
# Output seen:
#   yes/no, P(yes) 0.50                       threshold 0.9: score 0.50 fails   strict: score 1.00 passes
#   choice, right 0.26 wrong 0.25 none 0.49   threshold 0.9: score 0.51 fails   strict: score 1.00 passes
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv env
env/bin/pip install --quiet --no-compile --disable-pip-version-check deepeval==4.3.1
export DEEPEVAL_TELEMETRY_OPT_OUT=YES
cat > run.py <<'PY'
from deepeval.metrics import JevEval
from deepeval.metrics.jev_eval import Choice, Noul
from deepeval.models import DeepEvalBaseSystemOneModel
from deepeval.models.system_one.schema import ChoiceAnswer, NoulAnswer, SystemOneAnswers
from deepeval.test_case import LLMTestCase, SingleTurnParams

class Model(DeepEvalBaseSystemOneModel):
    """Gives the same answer to its one question."""
    def __init__(self, **answers):
        self.answers = SystemOneAnswers(**{kind: {"q_0": answer} for kind, answer in answers.items()})
        super().__init__("scripted")
    def load_model(self):
        return self
    def get_model_name(self):
        return self.name
    def decide(self, state, questions):
        return self.answers, 0
    async def a_decide(self, state, questions):
        return self.answers, 0

shares = {"right": 0.26, "wrong": 0.25, "none": 0.49}
cases = {
    "yes/no, P(yes) 0.50                    ": (Noul("The refund is right."), Model(nouls=NoulAnswer(probability=0.5))),
    "choice, right 0.26 wrong 0.25 none 0.49": (
        Choice("Is the refund right?", options={"right": 1, "wrong": 0, "none": None}),
        Model(choices=ChoiceAnswer(choice="none", probabilities=shares, confidence=0.2)),
    ),
}
case, seen = LLMTestCase(input="Refund me.", actual_output="You get 20 dollars."), []
for name, (question, model) in cases.items():
    results = []
    for options in ({"threshold": 0.9}, {"strict_mode": True}):
        metric = JevEval("refund", [SingleTurnParams.ACTUAL_OUTPUT], [question], model, async_mode=False, **options)
        score = metric.measure(case, _show_indicator=False)
        results.append(f"score {score:.2f} {'passes' if metric.success else 'fails'}")
    print(f"{name}   threshold 0.9: {results[0]}   strict: {results[1]}")
    seen += results
raise SystemExit(seen != ["score 0.50 fails", "score 1.00 passes", "score 0.51 fails", "score 1.00 passes"])
PY
env/bin/python run.py
