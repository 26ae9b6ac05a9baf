#!/usr/bin/env bash
# Guess: a benchmark of decision models gives a model that prints two decimals nearly the figures of the same model that
# prints four, since its own comment says that "vendors quantise to 0.01" and it allows for that.
# What happens: it allows a sum of 0.98 to 1.02 (0.98 itself is refused, in binary), whatever the number of options. Of 40
# options those of less than 0.005 all become 0.00, so a sure answer adds up to 0.95. Such answers count as schema
# failures, and accuracy is that of the others: the surest are left out, and the same model looks much worse.
# Source: PyPI sys1bench 0.3.2 (adapters/base.py, report/scorecard.py); seen 2026-11-29.
# Output seen:
#   four decimals: accuracy 0.66, schema failures 0%
#   two  decimals: accuracy 0.51, schema failures 69%
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv env
env/bin/pip install --quiet --no-compile --disable-pip-version-check sys1bench==0.3.2
env/bin/sys1bench generate rag_relevance items.jsonl --n 300 --cardinality 40 > log
cat > run.py <<'PY'
import json, math, random, subprocess, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

truths = {}
for line in open("items.jsonl"):
    item = json.loads(line)
    truths[json.dumps(item["state"])] = {name: question["ground_truth"] for name, question in item["questions"].items()}

class Model(BaseHTTPRequestHandler):
    """Right more often where it is sure: both are of one seed for each item."""
    def do_POST(self):
        path, asked = self.path, json.loads(self.rfile.read(int(self.headers["content-length"])))
        state, answers = json.dumps(asked["state"]), {}
        for name, question in asked["questions"].items():
            if question["type"] == "noul": answers[name] = {"type": "noul", "noul": 0.5}; continue
            names = list(question["criteria"]) if question["type"] == "choice" else [str(at) for at in range(len(question["criteria"]))]
            draw = random.Random(state + name)
            sure, truth = draw.random(), str(truths[state][name])
            target = truth if truth in names and draw.random() < 0.3 + 0.7 * sure else draw.choice(names)
            weights = {one: math.exp(draw.gauss(0, 0.7) + (2 + 6 * sure) * (one == target)) for one in names}
            total = sum(weights.values())
            shares = {one: round(weight / total, 2 if "two" in path else 4) for one, weight in weights.items()}
            answers[name] = {"type": question["type"], "probabilities": shares, "confidence": max(shares.values())}
        data = json.dumps({"model": "m-1", "answers": answers, "usage": {"input_tokens": 1, "output_tokens": 1}}).encode()
        self.send_response(200); self.send_header("content-length", str(len(data))); self.end_headers(); self.wfile.write(data)
    def log_message(self, *_): pass

server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()
seen = {}
for decimals in ("four", "two"):
    config = {"adapter": "jev_typesafe", "model_id": "m-1", "api_key": "k", "url": f"http://127.0.0.1:{server.server_port}/{decimals}"}
    open("config.yaml", "w").write(json.dumps(config))
    for words in (f"run items.jsonl {decimals} --config config.yaml --cache {decimals}.sqlite", f"score {decimals} --out {decimals}.json"):
        subprocess.run([f"{sys.prefix}/bin/sys1bench", *words.split()], check=True, stdout=subprocess.DEVNULL)
    card = json.load(open(f"{decimals}.json"))["m-1 / best_passage"]
    seen[decimals] = card["calibration"]["accuracy"], card["schema_failure_rate"]
    print(f"{decimals:4} decimals: accuracy {seen[decimals][0]:.2f}, schema failures {seen[decimals][1]:.0%}")
sys.exit(0 if seen["two"][1] > 0.5 and seen["two"][0] < seen["four"][0] - 0.05 and seen["four"][1] == 0 else 1)
PY
env/bin/python run.py
