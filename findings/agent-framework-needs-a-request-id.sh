#!/usr/bin/env bash
# Guess: a server that the vendor's SDK works with also works with Microsoft's Agent Framework, whose client is built on the SDK.
# What happens: the SDK reads `x-typesafe-request-id` only if somebody asks for it, and then an absent header is an error. The
# Agent Framework asks for it in every reply, after the answers were read, so an answered (and counted) request fails for
# want of a header that only names it. The call is outside of its own conversion of errors: what comes out is the SDK's
# TypeSafeError and not a ChatClientException, so a handler of the framework's exceptions does not catch it.
# sparrow-decider, a server of that API, sends no such header; the vendor's service and jevcompat's mock server do.
# Source: PyPI agent-framework-typesafe 1.0.0a261015 (_chat_client.py, _get_response), typesafe-sdk 0.7.5
# (_core/schemas/base.py, request_id), sparrow-decider 0.2.0, jevcompat 0.1.1; seen 2026-11-29.
# Output seen:
#   sparrow-decider  sdk: answered   agent framework: TypeSafeError, a ChatClientException: False
#   jevcompat mock   sdk: answered   agent framework: answered
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv env
env/bin/pip install --quiet --no-compile --disable-pip-version-check agent-framework-typesafe==1.0.0a261015 \
  agent-framework-core==1.23.0 typesafe-sdk==0.7.5 sparrow-decider==0.2.0 jevcompat==0.1.1
cat > ask.py <<'PY'
import asyncio, sys
from agent_framework import Agent
from agent_framework.exceptions import ChatClientException
from agent_framework_typesafe import TypeSafeChatClient
from typesafe_sdk import AsyncTypeSafeClient, Noul, RetryPolicy

async def main():
    questions = {"scam": Noul(instructions="Is it a scam?")}
    client = AsyncTypeSafeClient(api_key="k", base_url=sys.argv[1], retry=RetryPolicy(max_retries=0))
    answers = (await client.system_one("You have won.", questions)).answers
    plain = "answered" if 0 <= answers["scam"].noul <= 1 else "wrong"
    try:
        await Agent(client=TypeSafeChatClient(async_client=client, default_questions=questions)).run("You have won.")
        agent = "answered"
    except Exception as error:
        agent = f"{type(error).__name__}, a ChatClientException: {isinstance(error, ChatClientException)}"
    print(f"sdk: {plain}   agent framework: {agent}")

asyncio.run(main())
PY
try() { # name, command of a server
  local at; at=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  env/bin/$2 --port "$at" > /dev/null 2>&1 &
  local server=$!
  for _ in $(seq 200); do (: < "/dev/tcp/127.0.0.1/$at") 2> /dev/null && break; sleep 0.1; done
  printf '%-16s %s\n' "$1" "$(env/bin/python ask.py "http://127.0.0.1:$at")"
  kill $server
}
{ try "sparrow-decider" "sparrow-decider serve"; try "jevcompat mock" "jevcompat mock"; } | tee seen
diff seen - <<'TEXT'
sparrow-decider  sdk: answered   agent framework: TypeSafeError, a ChatClientException: False
jevcompat mock   sdk: answered   agent framework: answered
TEXT
