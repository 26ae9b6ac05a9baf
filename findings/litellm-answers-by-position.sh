#!/usr/bin/env bash
# Guess: OpenAI's decisions have a name on each question and on each answer, so that an answer finds its question.
# What happens: LiteLLM pairs the two lists by position, writes the name of the question over the name of the answer, and
# does not look at the one that the service sent. A compatible server that answers in another order (alphabetical, or
# as its questions finish) is read without an error, with the probabilities of two questions exchanged. If only the
# kinds differ, the answers turn into refusals. The vendor's form, a map by name, is read right.
# Source: PyPI litellm 1.108.0, llms/openai/decisions/transformation.py (openai_response_to_ir); seen 2026-11-29.
# Output seen:
#   the service   fraud 0.02, urgent 0.97
#   openai        fraud 0.97, urgent 0.02
#   typesafe      fraud 0.02, urgent 0.97
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv env
env/bin/pip install --quiet --no-compile --disable-pip-version-check litellm==1.108.0
cat > run.py <<'PY'
import json, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import litellm

litellm.suppress_debug_info = True
truth = {"fraud": 0.02, "urgent": 0.97}

class Service(BaseHTTPRequestHandler):
    """Answers in both forms, with the questions in reverse order."""
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        names = sorted(truth, reverse=True)
        if isinstance(body["questions"], list):
            answers = [{"name": name, "type": "predicate", "probability": truth[name]} for name in names]
        else:
            answers = {name: {"type": "noul", "noul": truth[name]} for name in names}
        usage = {"input_tokens": 9, "output_tokens": 2, "total_tokens": 11}
        data = json.dumps({"id": "d", "object": "decision", "created_at": 1, "model": "m", "answers": answers, "usage": usage}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
    def log_message(self, *_): pass

server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
threading.Thread(target=server.serve_forever, daemon=True).start()
questions = [{"name": name, "type": "predicate", "instructions": f"Is it {name}?"} for name in truth]
def show(name, answers):
    print(f"{name:13} " + ", ".join(f"{key} {value}" for key, value in answers.items()))
show("the service", truth)
seen = []
for model, path in (("openai/gpt-6-luna", "/v1"), ("typesafe/jev-latest", "")):
    base = {"api_base": f"http://127.0.0.1:{server.server_port}{path}", "api_key": "k", "max_retries": 0}
    answers = litellm.decisions(model=model, input="Hello", questions=questions, **base).answers
    seen.append({answer.name: answer.probability for answer in answers})
    show(model.partition("/")[0], seen[-1])
sys.exit(0 if seen == [{"fraud": 0.97, "urgent": 0.02}, truth] else 1)
PY
LITELLM_LOCAL_MODEL_COST_MAP=True env/bin/python run.py 2> /dev/null
