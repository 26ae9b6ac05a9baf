#!/usr/bin/env bash
# Guess: the text of an agent's reply names the answers to all its questions, whether or not it used a tool before.
# What happens: without a tool the text of Microsoft's Agent Framework is the whole reply as JSON. After a tool it is the
# tool's result and one line for each answer, but only for choices and scores: yes/no questions are left out, without
# a word, and so is every probability. Whoever reads `text` (a next agent, a log, a person) gets "team: billing" and not that
# fraud is 97 % likely. `value` has them all. The test is of the kinds of answers (`isinstance`), not of what was asked.
# Source: PyPI agent-framework-typesafe 1.0.0a261015 (_chat_client.py, _build_terminal_text), agent-framework-core 1.23.0;
# seen 2026-11-29.
# Output seen:
#   no tool    text is JSON with fraud 0.97     value: fraud, team
#   one tool   'Order 7 was shipped.\nteam: billing'   value: fraud, team
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv env
env/bin/pip install --quiet --no-compile --disable-pip-version-check agent-framework-typesafe==1.0.0a261015 agent-framework-core==1.23.0 typesafe-sdk==0.7.5
cat > run.py <<'PY'
import asyncio, json, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from agent_framework import Agent, tool
from agent_framework_typesafe import TypeSafeChatClient
from typesafe_sdk import Choice, Noul

class Service(BaseHTTPRequestHandler):
    """Says yes, and of each choice the first option."""
    def do_POST(self):
        answers = {}
        for name, question in json.loads(self.rfile.read(int(self.headers["content-length"])))["questions"].items():
            shares = {option: float(at == 0) for at, option in enumerate(question["criteria"])} if question["type"] == "choice" else {}
            picked = {"type": "choice", "choice": next(iter(shares), ""), "confidence": 0.9, "probabilities": shares}
            answers[name] = picked if shares else {"type": "noul", "noul": 0.97}
        data = json.dumps({"model": "m", "answers": answers, "usage": {"input_tokens": 9, "output_tokens": 2}}).encode()
        self.send_response(200)
        for name, value in (("content-type", "application/json"), ("content-length", str(len(data))), ("x-typesafe-request-id", "r")):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
    def log_message(self, *_): pass

server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
threading.Thread(target=server.serve_forever, daemon=True).start()
questions = {"fraud": Noul(instructions="Is it fraud?"), "team": Choice(instructions="Which team?", criteria={"billing": None, "other": None})}

def order() -> str:
    """Returns the state of the order."""
    return "Order 7 was shipped."

def ask(tools):
    client = TypeSafeChatClient(api_key="k", base_url=f"http://127.0.0.1:{server.server_port}", default_questions=questions)
    reply = asyncio.run(Agent(client=client, tools=tools).run("Where is order 7?"))
    return reply.text, ", ".join(reply.value.answers)

(plain, all_plain), (after, all_after) = ask([]), ask([tool(order, approval_mode="never_require")])
fraud = json.loads(plain)["answers"]["fraud"]["noul"]
print(f"no tool    text is JSON with fraud {fraud}     value: {all_plain}\none tool   {after!r}   value: {all_after}")
sys.exit(0 if (fraud, after, all_after) == (0.97, "Order 7 was shipped.\nteam: billing", "fraud, team") else 1)
PY
env/bin/python run.py
