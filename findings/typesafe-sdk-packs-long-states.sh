#!/usr/bin/env bash
# Guess: a program that works against a server of the vendor's API keeps working if only its Python is replaced.
# What happens: the vendor's SDK packs request bodies with zstd as soon as the interpreter can: on Python 3.14, or with the
# extra `zstd` on an older one. It does so from about 1 kB on, for any base URL. Two servers of that API from PyPI read
# every body as plain JSON, so short states are answered and longer ones get 422, which says nothing of compression.
# `compression=False` is the way out.
# Source: PyPI typesafe-sdk 0.7.5 (_core/compression.py), sparrow-decider 0.2.0, jevcompat 0.1.1; seen 2026-11-28.
# Output seen:
#   sparrow-decider   plain: 26 characters ok, 2002 ok   with the extra: 26 ok, 2002 TypeSafeUnprocessableEntityError
#   jevcompat mock    plain: 26 characters ok, 2002 ok   with the extra: 26 ok, 2002 TypeSafeUnprocessableEntityError
set -euo pipefail
cd "$(mktemp -d)"
for name in plain packed servers; do python3 -m venv "$name"; done
pip="pip install --quiet --disable-pip-version-check"
plain/bin/$pip typesafe-sdk==0.7.5
packed/bin/$pip "typesafe-sdk[zstd]==0.7.5"
servers/bin/$pip sparrow-decider==0.2.0 jevcompat==0.1.1
cat > ask.py <<'PY'
import sys
from typesafe_sdk import Noul, RetryPolicy, TypeSafeClient

client = TypeSafeClient(api_key="k", base_url=sys.argv[1], retry=RetryPolicy(max_retries=0))
seen = []
for count in (1, 77):
    state = "You have won the lottery. " * count
    try:
        client.system_one(state, {"scam": Noul(instructions="Is it a scam?")})
        seen.append(f"{len(state)} ok")
    except Exception as error:
        seen.append(f"{len(state)} {type(error).__name__}")
print(", ".join(seen))
PY
port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
failed=0
try() { # name, command of a server
  local at; at=$(port)
  servers/bin/$2 --port "$at" > /dev/null 2>&1 &
  local server=$!
  for _ in $(seq 100); do python3 -c "import socket; socket.create_connection(('127.0.0.1', $at))" 2> /dev/null && break; sleep 0.1; done
  local plain packed
  plain=$(plain/bin/python ask.py "http://127.0.0.1:$at")
  packed=$(packed/bin/python ask.py "http://127.0.0.1:$at")
  kill $server
  printf '%-17s plain: %s   with the extra: %s\n' "$1" "${plain/ ok/ characters ok}" "$packed"
  [ "$plain" = "26 ok, 2002 ok" ] && [ "$packed" = "26 ok, 2002 TypeSafeUnprocessableEntityError" ] || failed=1
}
try "sparrow-decider" "sparrow-decider serve"
try "jevcompat mock" "jevcompat mock"
exit $failed
