#!/usr/bin/env bash
# Guess: the vendor's two SDKs take the same questions and put the same body on the same route, POST /v1/systemone.
# What happens: the JavaScript one documents and sends a null level of a score, the Python one refuses it before sending.
# The Python one sends an image as a file of multipart/form-data, which the JSON asset names by `part`, and no opt-in
# header; the JavaScript one has no images and no question "box" at all. A server or proxy that reads JSON only works
# with all of one SDK and a part of the other.
# Source: npm @typesafe-ai/sdk 0.6.0 and PyPI typesafe-sdk 0.7.5, both the newest; seen 2026-11-28.
# Output seen:
#   javascript  null level: "criteria":["low",null]         exports box: false
#   python      null level: ValidationError
#   python      image: multipart/form-data, {"photo":{"type":"image","part":"asset-0"}}, opt-in header: False
set -euo pipefail
cd "$(mktemp -d)"
npm init -y > /dev/null
npm install --silent --ignore-scripts --no-audit --no-fund @typesafe-ai/sdk@0.6.0
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check typesafe-sdk==0.7.5
cat > run.mjs <<'JS'
import * as sdk from "@typesafe-ai/sdk";

let sent = "";
const fetch = async (_url, { body }) => {
  sent = body;
  return Response.json({ model: "m", answers: {}, usage: { input_tokens: 1, output_tokens: 1 } });
};
const client = new sdk.TypeSafeClient({ apiKey: "k", fetch });
await client.systemOne({ state: "hello", questions: { level: sdk.score("How bad?", ["low", null]) } });
const criteria = /"criteria":\[[^\]]*\]/.exec(sent)?.[0];
console.log(`javascript  null level: ${criteria}         exports box: ${"box" in sdk || "Box" in sdk}`);
if (criteria !== '"criteria":["low",null]' || "box" in sdk) process.exit(1);
JS
node run.mjs
cat > run.py <<'PY'
import base64, json, re, sys
import httpx2
from typesafe_sdk import Box, Image, Score, TypeSafeClient

try:
    Score(instructions="How bad?", criteria=["low", None])
    refused = "accepted"
except Exception as error:
    refused = type(error).__name__
print("python      null level:", refused)
seen = {}
def answer(request):
    seen["headers"], seen["body"] = request.headers, request.read()
    box = {"type": "box", "box": {"top": 0, "left": 0, "bottom": 1, "right": 1}, "confidence": 1}
    return httpx2.Response(200, json={"model": "m", "answers": {"mug": box}, "usage": {"input_tokens": 1, "output_tokens": 1}})
png = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==")
client = TypeSafeClient(api_key="k", transport=httpx2.MockTransport(answer))
client.system_one("see photo", {"mug": Box(instructions="the mug in `photo`")}, assets={"photo": Image(png)})
kind = seen["headers"]["content-type"].split(";")[0]
assets = re.search(rb'"assets":(\{.*?\}\})', seen["body"])[1].decode()
opted = any("danger" in name.lower() for name in seen["headers"])
print(f"python      image: {kind}, {assets}, opt-in header: {opted}")
sys.exit(0 if refused == "ValidationError" and kind == "multipart/form-data" and not opted else 1)
PY
env/bin/python run.py
