import { expect, test } from "vitest";
import { parseFault } from "./parse-fault.ts";

test.each([
  [
    "status=429,retry-after=2,next=3,path=/v4/ai/evaluation-model",
    { kind: "status", status: 429, retryAfter: 2, next: 3, path: "/v4/ai/evaluation-model" },
  ],
  ["status=503", { kind: "status", status: 503 }],
  ["latency=200,rate=0.5", { kind: "latency", latencyMs: 200, rate: 0.5 }],
  ["html", { kind: "html" }],
  ["html=200,next=1", { kind: "html", status: 200, next: 1 }],
  ["wrong-sums,path=/direct/*", { kind: "wrong-sums", path: "/direct/*" }],
])("%s is read", (text, fault) => {
  expect(parseFault(text)).toEqual(fault);
});

test.each([
  ["", "expected a kind: status, latency, html, exhausted-quota, hang, reset"],
  ["flood", "expected a kind"],
  ["status", "status"],
  ["status=200", "status"],
  ["status=many", "status"],
  ["hang=3", '"value"'],
  ["hang,next", "next"],
  ["hang,next=0", "next"],
  ["hang,rate=2", "rate"],
  ["hang,path=evaluation-model", "path"],
  ["hang,path", "path"],
])("%j is rejected and says why", (text, reason) => {
  expect(() => parseFault(text)).toThrow(`--fault ${text}: `);
  expect(() => parseFault(text)).toThrow(reason);
});
