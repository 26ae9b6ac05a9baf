import { expect, test } from "vitest";
import { rawRequest, sendRaw } from "../testing/raw-client.ts";
import { startTestRouter } from "../testing/test-router.ts";

const json = "Content-Type: application/json";
const body = '{"message":"hi"}';
const length = `Content-Length: ${body.length}`;

test("a foreign Host, Origin or site is rejected on every endpoint, and no model is asked", async () => {
  const { origin, host, seen } = await startTestRouter();
  const foreign = [
    ["Host: evil.example"],
    [`Host: evil.example:${new URL(origin).port}`],
    [`Host: ${host}`, "Origin: http://evil.example"],
    [`Host: ${host}`, "Origin: null"],
    [`Host: ${host}`, "Sec-Fetch-Site: cross-site"],
  ];
  for (const endpoint of ["POST /chat", "POST /decide", "POST /v1/chat/completions", "GET /"]) {
    for (const headers of foreign) {
      const request = rawRequest(endpoint, [...headers, json, length], body);
      expect(await sendRaw(origin, request)).toMatch(/^HTTP\/1\.1 403 /);
    }
  }
  expect(seen).toEqual([]);
});

test("a foreign name in the request line is rejected, whatever the Host says", async () => {
  const { origin, host } = await startTestRouter();
  const request = rawRequest("GET http://evil.example/", [`Host: ${host}`]);
  expect(await sendRaw(origin, request)).toMatch(/^HTTP\/1\.1 403 /);
});

test("a request without a Host, or with two, is rejected", async () => {
  const { origin, host } = await startTestRouter();
  for (const headers of [[], ["Host: evil.example", `Host: ${host}`]]) {
    expect(await sendRaw(origin, rawRequest("GET /", headers))).toMatch(/^HTTP\/1\.1 (400|403) /);
  }
});

test("a cross-site post that needs no permission is rejected: text, forms, nothing", async () => {
  const { origin, host, seen } = await startTestRouter();
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
    const own = [`Host: ${host}`, `Content-Type: ${type}`, length];
    const foreign = [...own, "Origin: http://evil.example", "Sec-Fetch-Site: cross-site"];
    const post = (headers: string[]) => sendRaw(origin, rawRequest("POST /chat", headers, body));
    expect(await post(own)).toMatch(/^HTTP\/1\.1 415 /);
    expect(await post(foreign)).toMatch(/^HTTP\/1\.1 403 /);
  }
  expect(seen).toEqual([]);
});
