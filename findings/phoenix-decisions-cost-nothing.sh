#!/usr/bin/env bash
# Guess: Phoenix shows the tokens and the cost of a decision, as it does for a chat, if its span is made as OpenInference's own
# convention for decisions asks (`DECISION`, `decision.token_count.input`, `decision.model_name`), which Phoenix knows: it
# draws the kind with a label of its own.
# What happens: it counts tokens only of spans of the kind LLM, and only `llm.token_count.*`. A decision has 0 tokens and no
# cost, and so have its trace and its project, without a word: a gateway that sends a million decisions and one chat a day
# has the bill of one chat. `llm.token_count.*` on a DECISION span changes nothing, and the kind LLM loses the decision.
# Source: PyPI arize-phoenix 20.26.1 (phoenix/db/insertion/span.py) with openinference-semantic-conventions 0.1.42; seen 2026-11-30.
# Output seen:
#   chat: kind llm, 1010 tokens, $0.00260
#   decision: kind decision, 0 tokens, no cost
#   decision with llm.* too: kind decision, 0 tokens, no cost
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv env
env/bin/pip install --quiet --no-compile --disable-pip-version-check arize-phoenix==20.26.1 openinference-semantic-conventions==0.1.42
cat > run.py <<'PY'
import json, os, socket, subprocess, sys, time, urllib.request
from openinference.semconv.trace import SpanAttributes as names
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

free = socket.create_server(("127.0.0.1", 0)); port = str(free.getsockname()[1]); free.close()
settings = {"PHOENIX_WORKING_DIR": os.getcwd(), "PHOENIX_HOST": "127.0.0.1", "PHOENIX_PORT": port, "PHOENIX_GRPC_PORT": "0", "PHOENIX_TELEMETRY_ENABLED": "false"}
server = subprocess.Popen([f"{sys.prefix}/bin/phoenix", "serve"], env={**os.environ, **settings}, stdout=open("log", "w"), stderr=subprocess.STDOUT)
address = f"http://127.0.0.1:{port}"
def fetch(path, body=None):
    headers = {"content-type": "application/json"}
    return urllib.request.urlopen(urllib.request.Request(address + path, body and json.dumps(body).encode(), headers)).read()
try:
    while server.poll() is None:
        try: fetch("/healthz"); break
        except OSError: time.sleep(0.5)
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(f"{address}/v1/traces")))
    llm = {names.LLM_MODEL_NAME: "gpt-4o", names.LLM_PROVIDER: "openai", names.LLM_TOKEN_COUNT_PROMPT: 1000, names.LLM_TOKEN_COUNT_COMPLETION: 10}
    decision = {names.DECISION_MODEL_NAME: "gpt-4o", names.DECISION_PROVIDER: "openai", names.DECISION_TOKEN_COUNT_INPUT: 1000, names.DECISION_TOKEN_COUNT_OUTPUT: 10}
    for name, kind, own in [("chat", "LLM", llm), ("decision", "DECISION", decision), ("decision with llm.* too", "DECISION", {**decision, **llm})]:
        provider.get_tracer("test").start_span(name, attributes={names.OPENINFERENCE_SPAN_KIND: kind, **own}).end()
    query = "{projects{edges{node{spans(first:9){edges{node{name spanKind tokenCountTotal costSummary{total{cost}}}}}}}}}"
    for _ in range(60):
        time.sleep(0.5)
        found = [edge["node"] for project in json.loads(fetch("/graphql", {"query": query}))["data"]["projects"]["edges"] for edge in project["node"]["spans"]["edges"]]
        seen = {one["name"]: (one["spanKind"], int(one["tokenCountTotal"] or 0), (one["costSummary"] or {"total": {"cost": None}})["total"]["cost"]) for one in found}
        if len(seen) == 3 and seen["chat"][2] is not None: break
finally: server.kill(); server.wait()
for name in ("chat", "decision", "decision with llm.* too"):
    kind, tokens, cost = seen[name]
    print(f"{name}: kind {kind}, {tokens} tokens, {'no cost' if cost is None else f'${cost:.5f}'}")
sys.exit(0 if seen["chat"][1] == 1010 and seen["chat"][2] and all(seen[name][1:] == (0, None) for name in seen if name != "chat") else 1)
PY
env/bin/python run.py
