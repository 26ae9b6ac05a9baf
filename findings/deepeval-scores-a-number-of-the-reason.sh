#!/usr/bin/env bash
# Guess: deepeval's two G-Evals, for a text and for a conversation, turn one reply of a judge into one score: each weighs the
# scores by the probabilities of the token that is the score.
# What happens: they look for a token with the same text as the score, GEval from the end and ConversationalGEval from the
# beginning. A "8" in the reason ("Turn 8 is cut short") is such a token, so if the reason comes first the conversation's
# score is made of the alternatives to the number of a turn, and if the score comes first that of the text is. Both prompts
# list the score first and show an example with the reason first. Nothing in the result shows it.
# Source: PyPI deepeval 4.3.1 (g_eval/utils.py, conversational_g_eval/conversational_g_eval.py); seen 2026-11-29.
# Output seen, of a judge that gives 8 of 10 with 97 %:
#   reason first   GEval 0.80   ConversationalGEval 0.56
#   score first    GEval 0.56   ConversationalGEval 0.80
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv env
env/bin/pip install --quiet --no-compile --disable-pip-version-check deepeval==4.3.1
cat > run.py <<'PY'
import json, math, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from deepeval.metrics import ConversationalGEval, GEval
from deepeval.models import OpenAIModel
from deepeval.test_case import ConversationalTestCase, LLMTestCase, MultiTurnParams, SingleTurnParams, Turn

SCORE, TURN = {"8": 0.97, "7": 0.03}, {"8": 0.6, "2": 0.4}
score, reason = ['"score": ', SCORE], ['"reason": "Turn ', TURN, ' is cut short."']
orders = {"reason first": ["{", *reason, ", ", *score, "}"], "score first ": ["{", *score, ", ", *reason, "}"]}

def token(piece):
    shares = piece if isinstance(piece, dict) else {piece: 1}
    logs = [{"token": text, "logprob": math.log(share), "bytes": None} for text, share in shares.items()]
    return {**logs[0], "top_logprobs": logs}

class Service(BaseHTTPRequestHandler):
    """A judge that is sure of 8, and unsure which turn to name."""
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        tokens = [token(piece) for piece in reply]
        message = {"role": "assistant", "content": "".join(each["token"] for each in tokens)}
        body = {"choices": [{"message": message, "logprobs": {"content": tokens}}], "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())
    log_message = lambda *_: None
server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
threading.Thread(target=server.serve_forever, daemon=True).start()
judge = OpenAIModel("gpt-4.1", api_key="k", base_url=f"http://127.0.0.1:{server.server_port}/v1")
common = {"name": "help", "evaluation_steps": ["Does it help?"], "model": judge, "async_mode": False}
seen = []
for name, reply in orders.items():
    single = GEval(evaluation_params=[SingleTurnParams.ACTUAL_OUTPUT], **common)
    conversation = ConversationalGEval(evaluation_params=[MultiTurnParams.CONTENT], **common)
    turns = ConversationalTestCase(turns=[Turn(role="user", content="Hi"), Turn(role="assistant", content="Hello")])
    cases = (single, LLMTestCase(input="Hi", actual_output="Hello")), (conversation, turns)
    scores = [metric.measure(case, _show_indicator=False) for metric, case in cases]
    seen.append(f"{name}   GEval {scores[0]:.2f}   ConversationalGEval {scores[1]:.2f}")
print(*seen, sep="\n")
raise SystemExit([line.split()[i] for line in seen for i in (3, 5)] != ["0.80", "0.56", "0.56", "0.80"])
PY
DEEPEVAL_TELEMETRY_OPT_OUT=YES env/bin/python run.py
