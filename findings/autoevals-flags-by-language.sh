#!/usr/bin/env bash
# Guess: Autoevals' `JSONDiff` gives one score for the same two JSON values in its Python and its JavaScript package.
# What happens: not for booleans. In Python a boolean is a number, so `true` for `false` is 0, but the number 1, or the
# probability 0.9, in place of `true` is nearly or wholly right. In JavaScript booleans are compared as text: `true` and
# `false` share an e, so a record with each flag wrong keeps 0.2 of its score, and a number in place of a flag gets nothing.
# An evaluation of typed answers that moves from one language to the other moves up on the wrong ones and down on the near ones.
# Source: PyPI autoevals 0.4.1 (json.py, json_diff), npm autoevals 0.3.0 (jsonDiff in jsdist), both the newest; seen 2026-11-29.
# Output seen:
#   python      three flags wrong 0.00   1 for true 1.00   0.9 for true 0.95
#   javascript  three flags wrong 0.20   1 for true 0.00   0.9 for true 0.00
set -euo pipefail
cd "$(mktemp -d)"
npm init -y > /dev/null
npm install --silent --ignore-scripts --no-audit --no-fund autoevals@0.3.0
python3 -m venv env
env/bin/pip install --quiet --no-compile --disable-pip-version-check autoevals==0.4.1
cat > pairs.json <<'JSON'
[[{"refund": false, "urgent": true, "spam": false}, {"refund": true, "urgent": false, "spam": true}],
 [{"fraud": 1}, {"fraud": true}], [{"fraud": 0.9}, {"fraud": true}]]
JSON
cat > run.py <<'PY'
import json
from autoevals import JSONDiff

scores = [JSONDiff().eval(output=output, expected=expected).score for output, expected in json.load(open("pairs.json"))]
print("python      three flags wrong {:.2f}   1 for true {:.2f}   0.9 for true {:.2f}".format(*scores))
PY
cat > run.mjs <<'JS'
import { readFileSync } from "node:fs";
import { JSONDiff } from "autoevals";

const scores = [];
for (const [output, expected] of JSON.parse(readFileSync("pairs.json", "utf8"))) {
  scores.push((await JSONDiff({ output, expected })).score.toFixed(2));
}
console.log(`javascript  three flags wrong ${scores[0]}   1 for true ${scores[1]}   0.9 for true ${scores[2]}`);
JS
{ env/bin/python run.py; node run.mjs; } | tee seen
diff seen - <<'TEXT'
python      three flags wrong 0.00   1 for true 1.00   0.9 for true 0.95
javascript  three flags wrong 0.20   1 for true 0.00   0.9 for true 0.00
TEXT
