#!/usr/bin/env bash
# Guess: a number field "stars, from 0 to 5" of an agent's output type becomes a score question with a mean on that scale.
# What happens: pydantic-ai asks each `float` with `ge=0` and an upper bound as a yes/no question, and multiplies the
# probability of "yes" by the bound. "How many stars does the customer give?" is a question that a yes/no model answers
# with how likely the statement is, so a review of two stars becomes 4.5 stars, in range and without a warning or a
# confidence. An `int` with the same bounds is refused, with a message that proposes a rubric.
# Source: PyPI pydantic-ai-slim 2.62.0, models/decision.py (_bounded, _answers); seen 2026-11-29.
# Output seen:
#   float, 0 to 5   asked as noul, answered 0.9, output stars=4.5
#   float, 0 to 100 asked as noul, answered 0.9, output stars=90.0
#   int, 0 to 5     UserError
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv env
env/bin/pip install --quiet --no-compile --disable-pip-version-check pydantic-ai-slim==2.62.0
cat > run.py <<'PY'
import json, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pydantic import Field, create_model
from pydantic_ai import Agent
from pydantic_ai.exceptions import UserError
from pydantic_ai.models.system_one import SystemOneModel
from pydantic_ai.providers.system_one import SystemOneProvider

question = {}

class Service(BaseHTTPRequestHandler):
    """A model that is sure that the customer gives stars."""
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        question.update(body["questions"]["stars"])
        reply = {"model": "m", "answers": {"stars": {"type": "noul", "noul": 0.9}}, "usage": {"input_tokens": 9, "output_tokens": 1}}
        data = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
    def log_message(self, *_): pass

server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
threading.Thread(target=server.serve_forever, daemon=True).start()
provider = SystemOneProvider(base_url=f"http://127.0.0.1:{server.server_port}", api_key="k")
seen = []
for kind, bound in ((float, 5), (float, 100), (int, 5)):
    field = Field(ge=0, le=bound, description=f"How many stars does the customer give, from 0 to {bound}?")
    agent = Agent(SystemOneModel("m", provider=provider), output_type=create_model("Review", stars=(kind, field)))
    try:
        output = agent.run_sync("Two stars: it broke after a week.").output
        seen.append(f"asked as {question['type']}, answered 0.9, output {output}")
    except UserError as error:
        seen.append(type(error).__name__)
    print(f"{f'{kind.__name__}, 0 to {bound}':15} {seen[-1]}")
asked = "asked as noul, answered 0.9, output stars="
sys.exit(0 if seen == [asked + "4.5", asked + "90.0", "UserError"] else 1)
PY
env/bin/python run.py
