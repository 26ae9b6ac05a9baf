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
  const names = [same, same, same].map((asked) => ledger.take(asked)?.name);
  expect(names).toEqual(["limited", "answered", "answered"]);
  expect(ledger.unused()).toEqual([]);
});

test("an exchange that names no model answers any, one that does answers its own first", () => {
  const exchanges = [exchange("any"), exchange("own", { "ai-model-id": "a/b" })];
  const ledger = new ReplayLedger(exchanges);
  expect(ledger.take(request({ a: 1, b: [{ c: 2, d: 3 }] }, { "ai-model-id": "a/b" }))?.name).toBe(
    "own",
  );
  expect(ledger.take(request({ a: 1, b: [{ c: 2, d: 3 }] }, { "ai-model-id": "c/d" }))?.name).toBe(
    "any",
  );
});

test("what no exchange answers has a nearest one, and the place where it differs", () => {
  const ledger = new ReplayLedger([exchange("only")]);
  const other = request({ a: 1, b: [{ c: 2, d: "private" }] });
  expect(ledger.take(other)).toBeNull();
  expect(ledger.nearest(other)).toEqual({ name: "only", difference: "body.b.0.d differs" });
  expect(ledger.unused().map(({ name }) => name)).toEqual(["only"]);
  expect(new ReplayLedger([]).nearest(other)).toBeNull();
});

test.each([
  ["equal scalars", "a", "a", null],
  [
    "equal objects in another order",
    { a: 1, b: [1, { c: null }] },
    { b: [1, { c: null }], a: 1 },
    null,
  ],
  ["another scalar", { a: { b: 1 } }, { a: { b: 2 } }, "body.a.b differs"],
  ["another type", { a: "1" }, { a: 1 }, "body.a differs"],
  ["null for an object", { a: {} }, { a: null }, "body.a differs"],
  ["an array for an object", { a: {} }, { a: [] }, "body.a differs"],
  ["a missing key", { a: 1, b: 2 }, { a: 1 }, "body.b is missing"],
  ["an unexpected key", { a: 1 }, { a: 1, b: 2 }, "body.b is unexpected"],
  ["a key that may be a text", { "to me": 1 }, {}, 'body["…"] is missing'],
  ["a shorter array", [1, 2], [1], "body.1 is missing"],
  ["a longer array", [1], [1, 2], "body.1 is unexpected"],
  ["an inherited name", {}, JSON.parse('{"__proto__":1}'), "body.__proto__ is unexpected"],
])("%s", (_name, expected, actual, difference) => {
  const base = exchange("only");
  const only = { ...base, request: { ...base.request, body: expected } };
  const asked = { ...base.request, body: actual };
  expect(new ReplayLedger([only]).nearest(asked)).toEqual({
    name: "only",
    difference,
  });
});
