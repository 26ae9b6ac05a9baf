#!/usr/bin/env bash
# Guess: for the same yes/no answer and the same threshold, two frameworks report the same confidence, or none: the
# service itself reports none for this kind of question.
# What happens: both make one up from the distance to the threshold, DSPy relative to the longer side, pydantic-ai relative
# to the side of the answer. At a threshold of 0.9 a certain yes has confidence 0.11 in DSPy and 1 in pydantic-ai. In
# DSPy a yes can then never reach 0.12, and a doubtful no (0.5) is "surer" than each yes, so a gate on confidence
# turns every yes away. At 0.5 the two agree, so the difference appears only once somebody tunes the threshold.
# Source: PyPI dspy 3.4.1 (adapters/decision_state.py), pydantic-ai-slim 2.62.0 (models/decision.py); seen 2026-11-29.
# Output seen:
#   threshold 0.5  p 1.0  dspy 1.00  pydantic-ai 1.00
#   threshold 0.9  p 1.0  dspy 0.11  pydantic-ai 1.00
#   threshold 0.9  p 0.5  dspy 0.44  pydantic-ai 0.44
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv env
env/bin/pip install --quiet --no-compile --disable-pip-version-check dspy==3.4.1 typesafe-sdk==0.7.5 pydantic-ai-slim==2.62.0
cat > run.py <<'PY'
import json, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import dspy
from dspy.experimental import Noul, TypeSafe
from pydantic import Field, create_model
from pydantic_ai import Agent
from pydantic_ai.models.system_one import SystemOneModel
from pydantic_ai.providers.system_one import SystemOneProvider

probability = 1.0

class Service(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        answers = {"fraud": {"type": "noul", "noul": probability}}
        data = json.dumps({"model": "m", "answers": answers, "usage": {"input_tokens": 9, "output_tokens": 1}}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
    def log_message(self, *_): pass

server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
threading.Thread(target=server.serve_forever, daemon=True).start()
base = {"base_url": f"http://127.0.0.1:{server.server_port}", "api_key": "k"}
fields = {"text": (str, dspy.InputField()), "fraud": (Noul, dspy.OutputField(desc="Is it fraud?"))}
Ticket = create_model("Ticket", fraud=(bool, Field(description="Is it fraud?")))
agent = Agent(SystemOneModel("m", provider=SystemOneProvider(**base)), output_type=Ticket)
seen = []
for threshold, probability in ((0.5, 1.0), (0.9, 1.0), (0.9, 0.5)):
    predict = dspy.Predict(dspy.make_signature(fields))
    predict.fields = {"fraud": {"threshold": threshold}}
    first = predict(lm=TypeSafe(**base, cache=False), text="hello").fraud
    run = agent.run_sync("hello", model_settings={"decision_boolean_threshold": threshold})
    second = run.response.provider_details["confidence"]["fraud"]
    assert first.value == run.output.fraud == (probability >= threshold)
    seen.append((round(first.confidence, 2), round(second, 2)))
    print(f"threshold {threshold}  p {probability}  dspy {first.confidence:.2f}  pydantic-ai {second:.2f}")
sys.exit(0 if seen == [(1, 1), (0.11, 1), (0.44, 0.44)] else 1)
PY
env/bin/python run.py
