#!/usr/bin/env bash
# Guess: the usage that Open WebUI stores for a reply with a tool is that of both model calls together, or that of the last.
# What happens: it is both. `input_tokens`, `output_tokens`, `total_tokens` and the details are sums, `prompt_tokens` and
# `completion_tokens` are the last call's. So `prompt_tokens_details.cached_tokens` can exceed the `prompt_tokens` that it is a
# part of, and who computes a price as (prompt - cached) x price + cached x discount gets a negative number of full-price tokens.
# Source: PyPI open-webui 0.12.4 (open_webui/utils/response.py); the whole backend stores the same, seen 2026-11-29.
# Output seen:
#   prompt_tokens 1200, input_tokens 2400, completion_tokens 34, output_tokens 68, total_tokens 2468, cached 2000
#   tokens at the full price, from prompt_tokens: -800
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv env
env/bin/pip install --quiet --no-compile --disable-pip-version-check --no-deps open-webui==0.12.4
cat > run.py <<'PY'
import importlib.util, sys, types
from pathlib import Path

# Two modules that the one file imports for other functions, so that its hundred requirements are not installed.
for name, words in (("json_codec", ["JSONCodec"]), ("misc", ["openai_chat_chunk_message_template", "openai_chat_completion_message_template"])):
    module = sys.modules[f"open_webui.utils.{name}"] = types.ModuleType(name)
    for word in words: setattr(module, word, None)
path = next(Path(sys.prefix).rglob("open_webui/utils/response.py"))
spec = importlib.util.spec_from_file_location("response", path)
response = importlib.util.module_from_spec(spec)
spec.loader.exec_module(response)

# OpenAI's usage of each call: 1,200 tokens were read, 1,000 of them from the cache.
call = {"prompt_tokens": 1200, "completion_tokens": 34, "total_tokens": 1234, "prompt_tokens_details": {"cached_tokens": 1000}}
usage = response.merge_usage(response.merge_usage(None, call), call)
names = ["prompt_tokens", "input_tokens", "completion_tokens", "output_tokens", "total_tokens"]
cached = usage["prompt_tokens_details"]["cached_tokens"]
print(", ".join(f"{name} {usage[name]}" for name in names) + f", cached {cached}")
full = usage["prompt_tokens"] - cached
print(f"tokens at the full price, from prompt_tokens: {full}")
sys.exit(0 if (full, usage["input_tokens"]) == (-800, 2400) else 1)
PY
env/bin/python run.py
