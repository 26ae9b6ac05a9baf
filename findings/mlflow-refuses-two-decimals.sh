#!/usr/bin/env bash
# Guess: a judge of MLflow that asks a decision model gets a verdict from each answer that the service gives and charges for.
# What happens: the probabilities of a choice must add up to 1 within 0.001. A service that prints two decimals, as the
# vendor of `typesafe:/` models does, prints 0.33 three times for a tie, and MLflow raises "invalid choice answer" after the
# call was paid. With three labels it refuses a quarter of the answers, with eight more than half, whatever the service
# thinks of the text. Two labels, or `bool`, pass. No setting loosens the rule.
# Source: PyPI mlflow-skinny 3.17.2 (mlflow/genai/judges/typesafe.py; decisions.py has the same for OpenAI); seen 2026-11-30.
# Output seen:
#   3 labels: 73 of 300 answers refused with two decimals, 0 with four
#   8 labels: 164 of 300 answers refused with two decimals, 0 with four
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv env
env/bin/pip install --quiet --no-compile --disable-pip-version-check mlflow-skinny==3.17.2 pandas==2.3.3
cat > run.py <<'PY'
import json, math, os, random, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal

os.environ.update(TYPESAFE_API_KEY="k", MLFLOW_DISABLE_TELEMETRY="true", MLFLOW_TRACKING_URI="sqlite:///runs.db")
from mlflow.exceptions import MlflowException
from mlflow.genai.judges import make_judge

class Model(BaseHTTPRequestHandler):
    """Answers each state with its own distribution, printed with the decimals in the path."""
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        state, names = asked["state"]["outputs"], list(asked["questions"]["evaluation"]["criteria"])
        draw = random.Random(f"{state} {len(names)}")
        weights = [math.exp(draw.gauss(0, 1.5)) for _ in names]
        shares = {name: weight / sum(weights) for name, weight in zip(names, weights)}
        choice = max(shares, key=shares.get)
        printed = {name: round(share, int(self.path[1])) for name, share in shares.items()}
        answer = {"type": "choice", "choice": choice, "probabilities": printed, "confidence": printed[choice]}
        data = json.dumps({"model": "m-1", "answers": {"evaluation": answer}, "usage": {"input_tokens": 9, "output_tokens": 1}}).encode()
        self.send_response(200); self.send_header("content-length", str(len(data))); self.end_headers(); self.wfile.write(data)
    def log_message(self, *_): pass

server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()
seen = {}
for labels in (Literal["a", "b", "c"], Literal["a", "b", "c", "d", "e", "f", "g", "h"]):
    for decimals in (2, 4):
        judge = make_judge(name="kind", instructions="What kind is {{ outputs }}?", model="typesafe:/jev-latest",
                           feedback_value_type=labels, base_url=f"http://127.0.0.1:{server.server_port}/{decimals}")
        seen[decimals] = 0
        for number in range(300):
            try: judge(outputs=f"text {number}")
            except MlflowException as error:
                assert "invalid choice answer" in str(error), error
                seen[decimals] += 1
    count = len(labels.__args__)
    print(f"{count} labels: {seen[2]} of 300 answers refused with two decimals, {seen[4]} with four")
    if seen[2] < 25 * math.log2(count) or seen[4] > 0: sys.exit(1)
PY
env/bin/python run.py
