#!/usr/bin/env bash
# Guess: the tokens of a run in OpenAI's Agents SDK do not depend on whether it is streamed, nor on the host of the service.
# What happens: with chat completions at any address but api.openai.com, a streamed run reports its requests with 0 tokens
# each: the SDK asks for `stream_options.include_usage` only if the base URL begins with OpenAI's own. Zero, not none, so a
# limit or a bill that is summed from `usage` never grows. `ModelSettings(include_usage=True)` is the way out.
# Source: PyPI openai-agents 0.24.0 (agents/models/openai_chatcompletions.py); seen 2026-11-29.
# Output seen:
#   whole                    1 request, 1200 tokens in
#   streamed                 1 request, 0 tokens in
#   streamed, include_usage  1 request, 1200 tokens in
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv env
env/bin/pip install --quiet --no-compile --disable-pip-version-check openai-agents==0.24.0
cat > run.py <<'PY'
import asyncio, json, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from agents import Agent, ModelSettings, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
from openai import AsyncOpenAI

set_tracing_disabled(True)
usage = {"prompt_tokens": 1200, "completion_tokens": 3, "total_tokens": 1203}
head = {"id": "c", "created": 1, "model": "m"}
class Service(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        reason, message = {"index": 0, "finish_reason": "stop"}, {"role": "assistant", "content": "hi"}
        data = [{**head, "object": "chat.completion", "choices": [{**reason, "message": message}], "usage": usage}]
        if asked.get("stream"):
            data = [{**head, "object": "chat.completion.chunk", "choices": [{**reason, "delta": message}]}]
            if (asked.get("stream_options") or {}).get("include_usage"): data.append({**data[0], "choices": [], "usage": usage})
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if asked.get("stream") else "application/json")
        self.end_headers()
        text = "".join(f"data: {json.dumps(event)}\n\n" for event in data) + "data: [DONE]\n\n"
        self.wfile.write((text if asked.get("stream") else json.dumps(data[0])).encode())
    def log_message(self, *_): pass

server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
threading.Thread(target=server.serve_forever, daemon=True).start()
seen = []

async def run(name, is_streamed, settings=ModelSettings()):
    client = AsyncOpenAI(base_url=f"http://127.0.0.1:{server.server_port}/v1", api_key="k")
    agent = Agent(name="a", model=OpenAIChatCompletionsModel(model="m", openai_client=client), model_settings=settings)
    result = Runner.run_streamed(agent, "Hello") if is_streamed else await Runner.run(agent, "Hello")
    if is_streamed:
        async for _ in result.stream_events(): pass
    usage = result.context_wrapper.usage
    seen.append((usage.requests, usage.input_tokens))
    print(f"{name:24} {usage.requests} request, {usage.input_tokens} tokens in")

asyncio.run(run("whole", False))
asyncio.run(run("streamed", True))
asyncio.run(run("streamed, include_usage", True, ModelSettings(include_usage=True)))
sys.exit(0 if seen == [(1, 1200), (1, 0), (1, 1200)] else 1)
PY
env/bin/python run.py
