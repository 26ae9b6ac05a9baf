#!/usr/bin/env bash
# Guess: an Agno agent that gets another model sends the same prompt to it, so that two models can be compared.
# What happens: if the model is Agno's `Claude` and the agent has a tool, any tool, Agno adds a sentence to the instructions:
# "Do not reflect on the quality of the returned search results in your response". OpenAI's models do not get it, nor does the
# same Claude through OpenRouter. An agent that is to grade search results is thus told to grade them and not to speak
# of their quality, with one of the models alone. A whole `system_message` in place of `instructions` is the way out.
# Source: PyPI agno 3.1.10 (models/anthropic/claude.py, get_system_message_for_model), anthropic 2.14.0, openai 3.57.0;
# seen 2026-11-30.
# Output seen:
#   OpenAIChat       Grade the quality of the search results.
#   OpenRouter       Grade the quality of the search results.
#   Claude           Grade the quality of the search results. Do not reflect on the quality of the returned search results in …
#   Claude, no tool  Grade the quality of the search results.
#   system_message   Grade the quality of the search results.
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv env
env/bin/pip install --quiet --no-compile --disable-pip-version-check agno==3.1.10 anthropic==2.14.0 openai==3.57.0
cat > run.py <<'PY'
import json
import httpx
import httpx2
from agno.agent import Agent
from agno.models.anthropic import Claude
from agno.models.openai import OpenAIChat
from agno.models.openrouter import OpenRouter

systems = []
fine = {"role": "assistant", "content": "fine"}
reply = {"id": "1", "model": "m", "object": "chat.completion", "created": 1, "choices": [{"index": 0, "message": fine}],
         "type": "message", "role": "assistant", "content": [{"type": "text", "text": "fine"}],
         "usage": {"input_tokens": 1, "output_tokens": 1}}

def client(library):
    """Keeps the instructions of each request, and answers "fine" in the forms of both APIs."""
    def answer(request):
        body = json.loads(request.content)
        system = body["system"][0]["text"] if "system" in body else body["messages"][0]["content"]
        systems.append(" ".join(system.split()))
        return library.Response(200, json=reply)
    return library.Client(transport=library.MockTransport(answer))

def search(words: str) -> str:
    """Search results for the words."""

task = "Grade the quality of the search results."
claude = Claude(id="m", api_key="k", client_params={"http_client": client(httpx2)})
openai, openrouter = (model(id="m", api_key="k", http_client=client(httpx)) for model in (OpenAIChat, OpenRouter))
for name, model, tools in (("OpenAIChat", openai, [search]), ("OpenRouter", openrouter, [search]),
                           ("Claude", claude, [search]), ("Claude, no tool", claude, [])):
    Agent(model=model, tools=tools, instructions=task, telemetry=False).run("cats")
    print(name.ljust(16), systems[-1])
Agent(model=claude, tools=[search], system_message=task, telemetry=False).run("cats")
print("system_message  ", systems[-1])
told = f"{task} Do not reflect on the quality of the returned search results in your response"
raise SystemExit(systems != [task, task, told, task, task])
PY
env/bin/python run.py
