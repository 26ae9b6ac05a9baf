#!/usr/bin/env bash
# Guess: LiteLLM maps an HTTP status to one class of error, so that `except AuthenticationError` catches each 401.
# What happens: for OpenAI's decisions (as for its chat) the class depends on the English of the message. OpenAI's own 401
# has the type `invalid_request_error`. LiteLLM looks for that type in the text before it looks at the status, and makes
# an exception only for the words "Incorrect API key provided". A compatible server, or OpenAI after a change of
# wording, gives a BadRequestError whose `status_code` is 401. A fallback on AuthenticationError is then not tried.
# Source: PyPI litellm 1.108.0, litellm_core_utils/exception_mapping_utils.py; seen 2026-11-28.
# Output seen:
#   401 "Incorrect API key provided: k."    AuthenticationError, status_code 401
#   401 "This key has been revoked."        BadRequestError, status_code 401
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv env
env/bin/pip install --quiet --no-compile --disable-pip-version-check litellm==1.108.0
cat > run.py <<'PY'
import json, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import litellm

litellm.suppress_debug_info = True
message = ""

class Service(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        error = {"message": message, "type": "invalid_request_error", "param": None, "code": "invalid_api_key"}
        data = json.dumps({"error": error}).encode()
        self.send_response(401)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
    def log_message(self, *_): pass

server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
threading.Thread(target=server.serve_forever, daemon=True).start()
base = {"api_base": f"http://127.0.0.1:{server.server_port}/v1", "api_key": "k", "max_retries": 0}
questions = [{"name": "scam", "type": "predicate", "instructions": "Is it a scam?"}]
seen = []
for message in ("Incorrect API key provided: k.", "This key has been revoked."):
    try:
        litellm.decisions(model="openai/gpt-6-luna", input="hello", questions=questions, **base)
    except Exception as error:
        seen.append(f"{type(error).__name__}, status_code {error.status_code}")
        quoted = f'401 "{message}"'
        print(f"{quoted:39} {seen[-1]}")
sys.exit(0 if seen == ["AuthenticationError, status_code 401", "BadRequestError, status_code 401"] else 1)
PY
LITELLM_LOCAL_MODEL_COST_MAP=True env/bin/python run.py 2> /dev/null
