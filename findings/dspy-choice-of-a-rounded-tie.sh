#!/usr/bin/env bash
# Guess: DSPy's `Literal` output, asked of TypeSafe's API, is the option that the answer names in `choice`.
# What happens: DSPy does not read `choice`. It takes the highest of the printed probabilities, which have two decimals,
# and of equal ones the option that was declared first. The model's own choice knows the unrounded numbers, so among
# close options the two disagree, and a reordering of the options changes the result of the same answer. `score` is
# not read either: the mean of the printed numbers is, which moves a level near a cut.
# pydantic-ai keeps the service's choice and score.
# Source: PyPI dspy 3.4.1 (adapters/decision_state.py, _decode), pydantic-ai-slim 2.62.0; seen 2026-11-29.
# Output seen:
#   dspy, billing first         choice billing score 0.49 level 0
#   dspy, refund first          choice refund  score 0.49 level 0
#   pydantic-ai, billing first  choice refund  level 1
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv env
env/bin/pip install --quiet --no-compile --disable-pip-version-check dspy==3.4.1 typesafe-sdk==0.7.5 pydantic-ai-slim==2.62.0
cat > run.py <<'PY'
import dspy, json, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal
from dspy.experimental import Score, TypeSafe
from pydantic import Field, create_model
from pydantic_ai import Agent
from pydantic_ai.models.system_one import SystemOneModel
from pydantic_ai.providers.system_one import SystemOneProvider

# Unrounded: billing 0.4955, refund 0.499, other 0.0055; the levels 0.5047, 0.4904, 0.0049, so their mean is 0.5002.
team = {"type": "choice", "choice": "refund", "confidence": 0.4, "probabilities": {"billing": 0.5, "refund": 0.5, "other": 0.01}}
anger = {"type": "score", "score": 0.5, "confidence": 0.5, "probabilities": {"0": 0.5, "1": 0.49, "2": 0}, "legend": {"0": "calm", "1": "cross", "2": "angry"}}

class Service(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        data = json.dumps({"model": "m", "answers": {"team": team, "anger": anger}, "usage": {"input_tokens": 9, "output_tokens": 2}}).encode()
        self.send_response(200)
        for name, value in (("content-type", "application/json"), ("content-length", str(len(data)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
    def log_message(self, *_): pass

server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
threading.Thread(target=server.serve_forever, daemon=True).start()
base = {"base_url": f"http://127.0.0.1:{server.server_port}", "api_key": "k"}
def of_dspy(*options):
    fields = {"text": (str, dspy.InputField()), "team": (Literal[options], dspy.OutputField(desc="Which team?")),
              "anger": (Score["calm", "cross", "angry"], dspy.OutputField(desc="How angry?"))}
    result = dspy.Predict(dspy.make_signature(fields))(lm=TypeSafe(**base, cache=False), text="My money, please.")
    return f"choice {result.team:7} score {result.anger.value:.2f} level {result.anger.level}"
levels = {"anyOf": [{"const": i, "description": word} for i, word in enumerate(("calm", "cross", "angry"))]}
Ticket = create_model("Ticket", team=(Literal["billing", "refund", "other"], Field(description="Which team?")),
                      anger=(int, Field(description="How angry?", json_schema_extra=levels)))
ticket = Agent(SystemOneModel("m", provider=SystemOneProvider(**base)), output_type=Ticket).run_sync("My money, please.").output
seen = [of_dspy("billing", "refund", "other"), of_dspy("refund", "billing", "other"), f"choice {ticket.team:7} level {ticket.anger}"]
for name, line in zip(("dspy, billing first", "dspy, refund first", "pydantic-ai, billing first"), seen):
    print(f"{name:27} {line}")
sys.exit(0 if seen == ["choice billing score 0.49 level 0", "choice refund  score 0.49 level 0", "choice refund  level 1"] else 1)
PY
env/bin/python run.py
