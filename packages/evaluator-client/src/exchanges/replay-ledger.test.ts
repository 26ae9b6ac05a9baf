import { expect, test } from "vitest";
import type { Exchange } from "./exchange.ts";
import { ReplayLedger } from "./replay-ledger.ts";

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
  return { method: "POST", path: "/v1/systemone", headers, body };
}

const same = request({ b: [{ d: 3, c: 2 }], a: 1 });

test("as often as asked: each exchange for one request once, then the last again", () => {
  const ledger = new ReplayLedger([exchange("limited"), exchange("answered")]);
  const names = [same, same, same].map((asked) => ledger.takeExchange(asked)?.name);
  expect(names).toEqual(["limited", "answered", "answered"]);
  expect(ledger.listUnused()).toEqual([]);
});

test("an exchange that names no model answers any, one that does answers its own first", () => {
  const exchanges = [exchange("any"), exchange("own", { "ai-model-id": "a/b" })];
  const ledger = new ReplayLedger(exchanges);
  expect(
    ledger.takeExchange(request({ a: 1, b: [{ c: 2, d: 3 }] }, { "ai-model-id": "a/b" }))?.name,
  ).toBe("own");
  expect(
    ledger.takeExchange(request({ a: 1, b: [{ c: 2, d: 3 }] }, { "ai-model-id": "c/d" }))?.name,
  ).toBe("any");
});

test("a request without a header that the exchange has is not answered", () => {
  const ledger = new ReplayLedger([exchange("only", { "content-type": "application/json" })]);
  expect(ledger.takeExchange(same)).toBeNull();
  expect(ledger.listUnused().map(({ name }) => name)).toEqual(["only"]);
});

test.each([
  ["equal scalars", "a", "a", true],
  [
    "equal objects in another order",
    { a: 1, b: [1, { c: null }] },
    { b: [1, { c: null }], a: 1 },
    true,
  ],
  ["another scalar", { a: { b: 1 } }, { a: { b: 2 } }, false],
  ["another type", { a: "1" }, { a: 1 }, false],
  ["null for an object", { a: {} }, { a: null }, false],
  ["an array for an object", { a: {} }, { a: [] }, false],
  ["a missing key", { a: 1, b: 2 }, { a: 1 }, false],
  ["an unexpected key", { a: 1 }, { a: 1, b: 2 }, false],
  ["a shorter array", [1, 2], [1], false],
  ["a longer array", [1], [1, 2], false],
  ["an inherited name", {}, JSON.parse('{"__proto__":1}'), false],
])("%s: answered or not", (_name, expected, actual, isAnswered) => {
  const base = exchange("only");
  const only = { ...base, request: { ...base.request, body: expected } };
  const asked = { ...base.request, body: actual };
  expect(new ReplayLedger([only]).takeExchange(asked) !== null).toBe(isAnswered);
});
