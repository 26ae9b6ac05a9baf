import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { loadExchanges } from "./exchange.ts";

const valid = {
  description: "a plain exchange",
  provenance: { source: "contract", section: "4.1" },
  request: { method: "POST", path: "/v1/systemone", headers: {}, body: { state: "hi" } },
  response: { status: 200, headers: {}, body: { answers: {} } },
};

test("loads every file of every subfolder, sorted by name", () => {
  const folder = folderWith({ "b.json": valid, "a/z.json": valid, "a/z-1.json": valid });
  expect(loadExchanges(folder).map(({ name }) => name)).toEqual(["a/z", "a/z-1", "b"]);
});

test("gives the fields of the file as they are", () => {
  expect(loadExchanges(folderWith({ "one.json": valid }))).toEqual([{ name: "one", ...valid }]);
});

test("takes a recording with its date and model", () => {
  const provenance = { source: "live", recordedAt: "2026-11-21", model: "jev-1.13.0" };
  const [exchange] = loadExchanges(folderWith({ "live.json": { ...valid, provenance } }));
  expect(exchange?.provenance).toEqual(provenance);
});

test("leaves other files alone", () => {
  expect(loadExchanges(folderWith({ "notes.md": valid }))).toEqual([]);
});

test.each([
  ["status", { response: { ...valid.response, status: "200" } }, "response.status: "],
  ["an unknown field", { note: "x" }, 'Unrecognized key: "note"'],
  ["source", { provenance: { source: "memory" } }, "provenance.source: "],
  ["section", { provenance: { source: "contract" } }, "provenance.section: "],
  ["date", { provenance: { source: "live", recordedAt: "May", model: "m" } }, "recordedAt: "],
  ["method", { request: { ...valid.request, method: "post" } }, "request.method: "],
  [
    "a header that carries a key",
    { request: { ...valid.request, headers: { authorization: "x" } } },
    "request.headers.authorization: expected a lower-case header name that never carries a key",
  ],
  [
    "a header in upper case",
    { response: { ...valid.response, headers: { "Retry-After": "2" } } },
    "response.headers.Retry-After: expected a lower-case header name",
  ],
])("names the file and the field when %s is wrong", (_field, change, message) => {
  const folder = folderWith({ "gateway/wrong.json": { ...valid, ...change } });
  expect(() => loadExchanges(folder)).toThrow(message);
  expect(() => loadExchanges(folder)).toThrow(join("gateway", "wrong.json"));
});

test.each([
  "authorization",
  "proxy-authorization",
  "cookie",
  "set-cookie",
  "x-api-key",
  "password",
  "x-password",
  "passwd",
  "x-db-pwd",
  "x-access-token",
  "client-secret",
  "aws-credential",
  "x-session",
])("no file holds the header %s", (name) => {
  for (const part of ["request", "response"] as const) {
    const headers = { ...valid[part].headers, [name]: "x" };
    const folder = folderWith({ "one.json": { ...valid, [part]: { ...valid[part], headers } } });
    expect(() => loadExchanges(folder)).toThrow(`${part}.headers.${name}: expected a lower-case`);
  }
});

test.each(["ai-gateway-auth-method", "x-ratelimit-remaining-tokens", "retry-after"])(
  "a file may hold the header %s",
  (name) => {
    const response = { ...valid.response, headers: { [name]: "x" } };
    expect(loadExchanges(folderWith({ "one.json": { ...valid, response } }))).toHaveLength(1);
  },
);

test("names the file when it is not JSON, without its text", () => {
  const folder = folderWith({});
  writeFileSync(join(folder, "cut.json"), '{"secret');
  expect(() => loadExchanges(folder)).toThrow(/cut\.json is not JSON\.$/);
});

function folderWith(files: Record<string, unknown>): string {
  const folder = mkdtempSync(join(tmpdir(), "exchanges-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), JSON.stringify(content));
  }
  return folder;
}
