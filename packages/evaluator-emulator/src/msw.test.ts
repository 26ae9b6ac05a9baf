import { boolean, createEvaluator, directTransport, gatewayTransport } from "evaluator-client";
import { setupServer } from "msw/node";
import { afterEach, expect, test, vi } from "vitest";
import { createEmulator } from "./create-emulator.ts";
import type { Fault } from "./faults/fault.ts";
import { emulatorHandlers, type EmulatorHandlersOptions } from "./msw.ts";

// Somebody else's test: msw's own server and the global fetch.
const server = setupServer();
afterEach(() => server.close());

function play(faults: readonly Fault[] = [], options: EmulatorHandlersOptions = {}) {
  const emulator = createEmulator({ exchanges: [], faults });
  server.resetHandlers(...emulatorHandlers(emulator, options));
  server.listen();
}

const request = { state: "you won the lottery", questions: { scam: boolean("Is it a scam?") } };

test("the program's own createEvaluator() is answered, without an option for tests", async () => {
  play();
  vi.stubEnv("AI_GATEWAY_API_KEY", "any-key");
  const { answers, modelId } = await createEvaluator().evaluate(request);
  expect(answers.scam.probability).toBe(0.55);
  expect(modelId).toBe("local/lexical-1");
});

test("a gateway and a vendor at any host are played", async () => {
  play();
  for (const transport of [
    gatewayTransport({ apiKey: "k", baseUrl: "https://gateway.example/v4/ai", env: {} }),
    directTransport({ apiKey: "k", baseUrl: "https://vendor.example", env: {} }),
  ]) {
    const { answers } = await createEvaluator({ transport }).evaluate(request);
    expect(answers.scam.probability).toBe(0.55);
  }
  const endpoints = await fetch("https://gateway.example/v1/models/typesafe-ai/jev/endpoints");
  expect(await endpoints.json()).toMatchObject({ data: { id: "typesafe-ai/jev" } });
});

test("a named vendor has its own list of models", async () => {
  play([], { directOrigin: "https://vendor.example" });
  const vendor = await fetch("https://vendor.example/v1/models");
  expect(await vendor.json()).toMatchObject({ models: [{ name: "jev-latest" }] });
  const gateway = await fetch("https://gateway.example/v1/models");
  expect(await gateway.json()).toMatchObject({ object: "list" });
});

test("statuses are played as they are", async () => {
  play([{ kind: "status", status: 429, retryAfter: 1 }]);
  const response = await fetch("https://gateway.example/v1/models");
  expect(response.status).toBe(429);
  expect(response.headers.get("retry-after")).toBe("1");
});

test("a broken connection is a network error", async () => {
  play([{ kind: "reset" }]);
  await expect(fetch("https://gateway.example/v1/models")).rejects.toThrow(TypeError);
});

test("a cut body breaks off", async () => {
  play([{ kind: "cut-body" }]);
  const read = async () => (await fetch("https://gateway.example/v1/models")).text();
  await expect(read()).rejects.toThrow(TypeError);
});
