#!/usr/bin/env bash
# Guess: pydecide's server hands the answers of a hosted model on as they are, since it speaks the same wire format.
# What happens: it writes the top probability into `confidence`, in place of the number that the model reported. In one
# process pydecide gates on the reported number, because "a model that states its confidence means that number". One hop
# through pydecide's own server later, the same gate sees another number, and a question that was handed on is accepted.
# Source: PyPI pydecide 0.2.19, decide/wire.py (to_wire_answers) and decide/gate.py; seen 2026-11-28.
# Output seen:
#   straight to the model       confidence 0.05  gate at 0.5: asks the next backend
#   through pydecide's server   confidence 0.63  gate at 0.5: accepts
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check "pydecide[server]==0.2.19"
cat > run.py <<'PY'
import json, os, subprocess, sys, threading, time, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from decide import Choice, Client, Gate
from decide.backends import load

PROBABILITIES = {"prize": 0.63, "other": 0.37}
ANSWER = {"type": "choice", "choice": "prize", "probabilities": PROBABILITIES, "confidence": 0.05}
BODY = {"model": "m", "answers": {"kind": ANSWER}, "usage": {"input_tokens": 9, "output_tokens": 2}}

class Model(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        data = json.dumps(BODY).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(data)
    def log_message(self, *_): pass

model = ThreadingHTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=model.serve_forever, daemon=True).start()
straight = f"http://127.0.0.1:{model.server_port}"
spare = ThreadingHTTPServer(("127.0.0.1", 0), Model)
port = spare.server_port
spare.server_close()
env = {**os.environ, "DECIDE_BACKENDS": "typesafe", "TYPESAFE_API_KEY": "k", "TYPESAFE_BASE_URL": straight}
server = subprocess.Popen(["env/bin/decide", "serve", "--port", str(port)], env=env, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
through = f"http://127.0.0.1:{port}"

def confidence(address):
    client = Client([load("typesafe", api_key="k", base_url=address)])
    answers = client.decide("You have won", {"kind": Choice(instructions="?", criteria={"prize": "a", "other": "b"})})
    passes, _ = Gate(0.5).passes(answers)
    return answers.answers["kind"].confidence, "accepts" if passes else "asks the next backend"

for _ in range(200):
    try: urllib.request.urlopen(through); break
    except urllib.error.HTTPError: break
    except OSError: time.sleep(0.1)
seen = [confidence(straight), confidence(through)]
server.kill()
for name, (value, gate) in zip(["straight to the model", "through pydecide's server"], seen):
    print(f"{name:27} confidence {value:.2f}  gate at 0.5: {gate}")
sys.exit(0 if [value for value, _ in seen] == [0.05, 0.63] else 1)
PY
env/bin/python run.py
