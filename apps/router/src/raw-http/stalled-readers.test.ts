import { once } from "node:events";
import { expect, test } from "vitest";
import { rawClient, rawRequest, sendRaw } from "../testing/raw-client.ts";
import { beginStream, deltaOf } from "../testing/reply-stream.ts";
import { scriptedGateway } from "../testing/test-router.ts";

const patiently = { timeout: 120_000 };
const json = "Content-Type: application/json";
const body = '{"message":"hi"}';
const length = `Content-Length: ${body.length}`;
const piece = deltaOf("a".repeat(100_000));

test("a reader that stops is cut off, its slot is free, and the model's call is ended", async () => {
  const ended = Promise.withResolvers<void>();
  const env = { ROUTER_STALL_TIMEOUT_MS: "50", ROUTER_MAX_CALLS: "1" };
  const { origin, host, defects, records } = await scriptedGateway((response) => {
    response.once("close", ended.resolve);
    beginStream(response);
    const send = () => void (response.writable && response.write(piece, send));
    send();
  }, env);
  const request = rawRequest(
    "POST /chat",
    [`Host: ${host}`, json, length, "Accept: text/event-stream"],
    body,
  );
  const { socket } = await rawClient(origin, request);
  await once(socket, "data");
  socket.pause();
  await ended.promise;
  const empty = rawRequest("POST /decide", [`Host: ${host}`, json, "Content-Length: 2"], "{}");
  await expect.poll(() => sendRaw(origin, empty), patiently).toMatch(/^HTTP\/1\.1 400 /);
  expect(records).toMatchObject([{ outcome: "stopped", isEstimate: true }]);
  expect(defects).toEqual([]);
});

test("a model that thinks longer than a reader may stop cuts nobody off", async () => {
  const asked = Promise.withResolvers<() => void>();
  const env = { ROUTER_STALL_TIMEOUT_MS: "1" };
  const { origin } = await scriptedGateway((response) => {
    beginStream(response);
    asked.resolve(() => response.end(deltaOf("at last")));
  }, env);
  const headers = { "content-type": "application/json", accept: "text/event-stream" };
  const answer = await fetch(`${origin}/chat`, { method: "POST", headers, body });
  const reader = answer.body?.getReader();
  await reader?.read();
  const finish = await asked.promise;
  for (let round = 0; round < 20; round += 1) await (await fetch(`${origin}/healthz`)).text(); // time goes by
  finish();
  const rest = await reader?.read();
  expect(new TextDecoder().decode(rest?.value)).toContain("at last");
});
