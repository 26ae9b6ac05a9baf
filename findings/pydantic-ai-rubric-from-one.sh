#!/usr/bin/env bash
# Guess: whether five described levels of an agent's output are numbered 0 to 4 or 1 to 5 changes the numbers only.
# What happens: it changes the kind of question. pydantic-ai asks levels from 0 as a score and returns the mean, rounded;
# levels from 1 become a choice among the labels "1" to "5", whose order the model is not told, and the likeliest one
# is returned. Customers who either love or hate a thing get the middle in one numbering and an end in the other. The same
# happens to levels from 0 of which one has no description. Neither is an error or a warning.
# Source: PyPI pydantic-ai-slim 2.62.0, models/decision.py (_rubric, _answers); seen 2026-11-29.
# Output seen, for shares of 40, 0, 0, 25 and 35 % in each numbering:
#   0 to 4  asked as score, output 2: level 3 of 5
#   1 to 5  asked as choice, output 1: level 1 of 5
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv env
env/bin/pip install --quiet --no-compile --disable-pip-version-check pydantic-ai-slim==2.62.0
cat > run.py <<'PY'
import json, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pydantic import Field, create_model
from pydantic_ai import Agent
from pydantic_ai.models.system_one import SystemOneModel
from pydantic_ai.providers.system_one import SystemOneProvider

shares = [0.4, 0, 0, 0.25, 0.35]
question = {}

class Service(BaseHTTPRequestHandler):
    """The same opinion of the five levels, whatever the kind of question."""
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        question.update(body["questions"]["rating"])
        labels = question["criteria"] if question["type"] == "choice" else [str(i) for i in range(5)]
        answer = {"type": question["type"], "confidence": 0.3, "probabilities": dict(zip(labels, shares))}
        answer.update({"choice": "1"} if question["type"] == "choice" else {"score": 2.15})
        data = json.dumps({"model": "m", "answers": {"rating": answer}, "usage": {"input_tokens": 9, "output_tokens": 1}}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
    def log_message(self, *_): pass

server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
threading.Thread(target=server.serve_forever, daemon=True).start()
model = SystemOneModel("m", provider=SystemOneProvider(base_url=f"http://127.0.0.1:{server.server_port}", api_key="k"))
seen = []
for first in (0, 1):
    words = ("awful", "poor", "fair", "good", "excellent")
    levels = {"anyOf": [{"const": first + i, "description": word} for i, word in enumerate(words)]}
    field = Field(description="How content is the customer?", json_schema_extra=levels)
    output = Agent(model, output_type=create_model("Review", rating=(int, field))).run_sync("It is what it is.").output
    seen.append((question["type"], output.rating - first + 1))
    print(f"{first} to {first + 4}  asked as {question['type']}, output {output.rating}: level {seen[-1][1]} of 5")
sys.exit(0 if seen == [("score", 3), ("choice", 1)] else 1)
PY
env/bin/python run.py
