import { expect, test } from "vitest";
import type { Exchange } from "./exchange.ts";
import { openReplayLedger } from "./replay-ledger.ts";

function exchange(name: string, headers: Record<string, string> = {}): Exchange {
  return {
    name,
    description: name,
    provenance: { source: "contract", section: "4.1" },
    request: {
      method: "POST",
      path: "/v1/systemone",
      headers,
      body: { a: 1, b: [{ c: 2, d: 3 }] },
    },
    response: { status: 200, headers: {}, body: {} },
  };
}

function request(body: object, headers: Record<string, string> = {}) {
  const url = "https://service.example/v1/systemone";
  return { method: "POST", url, headers, body: JSON.stringify(body) };
}

const same = request({ b: [{ d: 3, c: 2 }], a: 1 });

test("as often as asked: each exchange for one request once, then the last again", () => {
  const ledger = openReplayLedger([exchange("limited"), exchange("answered")], Infinity);
  const names = [same, same, same].map((asked) => ledger.take(asked)?.name);
  expect(names).toEqual(["limited", "answered", "answered"]);
  expect(ledger.unused()).toEqual([]);
});

test("an exchange that names no model answers any, one that does answers its own first", () => {
  const exchanges = [exchange("any"), exchange("own", { "ai-model-id": "a/b" })];
  const ledger = openReplayLedger(exchanges, Infinity);
  expect(ledger.take(request({ a: 1, b: [{ c: 2, d: 3 }] }, { "ai-model-id": "a/b" }))?.name).toBe(
    "own",
  );
  expect(ledger.take(request({ a: 1, b: [{ c: 2, d: 3 }] }, { "ai-model-id": "c/d" }))?.name).toBe(
    "any",
  );
});

test("what no exchange answers has a nearest one, and the place where it differs", () => {
  const ledger = openReplayLedger([exchange("only")], Infinity);
  const other = request({ a: 1, b: [{ c: 2, d: "private" }] });
  expect(ledger.take(other)).toBeNull();
  expect(ledger.nearest(other)).toEqual({ name: "only", difference: "body.b.0.d differs" });
  expect(ledger.unused()).toEqual(["only"]);
  expect(openReplayLedger([], Infinity).nearest(other)).toBeNull();
});
