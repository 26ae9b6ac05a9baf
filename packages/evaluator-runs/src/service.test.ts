import { createEvaluator } from "evaluator-client";
import { expect, test, vi } from "vitest";
import { openTransport, toService } from "./service.ts";
import { sampleQuestions } from "./testing/samples.ts";

test.each([
  [{}, "AI_GATEWAY_API_KEY"],
  [{ EVALUATOR_TRANSPORT: "direct" }, "EVALUATOR_DIRECT_API_KEY"],
  [{ EVALUATOR_TRANSPORT: "logprobs" }, "EVALUATOR_MODEL_ID"],
  [{ EVALUATOR_TRANSPORT: "logprobs", EVALUATOR_MODEL_ID: "m" }, "EVALUATOR_LOGPROBS_BASE_URL"],
  [
    { EVALUATOR_TRANSPORT: "pigeon" },
    "EVALUATOR_TRANSPORT is none of gateway, direct, logprobs, typesafe,",
  ],
])(
  "where something is missing (%j) the ways on are to set it, or to go offline",
  async (env, variable) => {
    const opening = openTransport({ offline: false, dryRun: false, env });
    await expect(opening).rejects.toThrow(variable);
    await expect(opening).rejects.toThrow(/\.env /);
    await expect(opening).rejects.toThrow("--offline");
  },
);

test.each([
  ["AI_GATEWAY_API_KEY is not set.", {}],
  ["AI_GATEWAY_API_KEY is not set.", { AI_GATEWAY_API_KEY: " " }],
  ["AI_GATEWAY_API_KEY has a space", { AI_GATEWAY_API_KEY: "two words" }],
  ["EVALUATOR_DIRECT_API_KEY is not set.", { EVALUATOR_TRANSPORT: "direct" }],
  ["EVALUATOR_BASE_URL is not an http", { AI_GATEWAY_API_KEY: "k", EVALUATOR_BASE_URL: "no" }],
])("names variables, and no options that the program does not have: %s", async (told, env) => {
  const opening = openTransport({ offline: false, dryRun: false, env });
  const message = await opening.then(String, ({ message: text }: Error) => text);
  expect(message.startsWith(told)).toBe(true);
  expect(message).not.toMatch(/option|apiKey|baseUrl/);
});

test("a run that sends nothing needs no key, and means the same service as one that does", async () => {
  const keyless = await openTransport({ offline: false, dryRun: true, env: {} });
  const env = { AI_GATEWAY_API_KEY: "any" };
  const sending = await openTransport({ offline: false, dryRun: false, env });
  expect(toService(keyless)).toEqual(toService(sending));
});

test("the emulator never passes for the service", async () => {
  const env = { AI_GATEWAY_API_KEY: "any" };
  const online = toService(await openTransport({ offline: false, dryRun: false, env }));
  const offline = toService(await openTransport({ offline: true, dryRun: false, env }));
  expect(offline).not.toEqual(online);
});

test("other prompts of the same model are another service", () => {
  const target = { url: "http://127.0.0.1:11434", modelId: "m" };
  const wires = [undefined, "logprobs-1 raw", "logprobs-1 balanced"].map((format) => {
    const transport = { name: "logprobs", target: { ...target, ...(format && { format }) } };
    return toService({ ...transport, send: () => Promise.reject(new Error("unused")) }).address;
  });
  expect(wires).toEqual([
    "logprobs http://127.0.0.1:11434/",
    "logprobs http://127.0.0.1:11434/, prompts logprobs-1 raw",
    "logprobs http://127.0.0.1:11434/, prompts logprobs-1 balanced",
  ]);
});

test("offline, the emulator answers whatever the environment says", async () => {
  vi.stubEnv("EVALUATOR_BASE_URL", "no address");
  const env = { EVALUATOR_TRANSPORT: "direct" };
  const transport = await openTransport({ offline: true, dryRun: false, env });
  const evaluator = createEvaluator({ transport });
  const { answers } = await evaluator.evaluate({
    state: { subject: "Lunch" },
    questions: sampleQuestions,
  });
  expect(Object.keys(answers)).toEqual(Object.keys(sampleQuestions));
});
