import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { boolean, type Tracing } from "evaluator-client";
import { createEmulator } from "evaluator-emulator";
import { closeServer, listen } from "evaluator-kit";
import { temporaryFolder } from "evaluator-kit/testing";
import { onTestFinished, expect, test } from "vitest";
import { parseRouterOptions } from "../router-options.ts";
import { budgetRouter } from "../testing/budget-router.ts";
import { connectDecisions } from "../evaluations/evaluation-services.ts";
import { post, state } from "../testing/evaluation-calls.ts";
import { readConfig } from "../testing/read-config.ts";
import { startProgram } from "../testing/start-program.ts";
import { testRouter } from "../testing/test-router.ts";
import { connectServices } from "./connect-services.ts";

const questions = { scam: { type: "noul", instructions: "Is it a scam?" } };
const body = { state, questions };

/** A service of the vendor's form; it answers when the test lets it. */
async function startService(model: string, gate: Promise<void> = Promise.resolve()) {
  const seen: { key: string | undefined; body: object }[] = [];
  const server = createServer((request, response) => {
    void text(request).then(async (sent) => {
      seen.push({ key: request.headers.authorization, body: JSON.parse(sent) as object });
      await gate;
      const answers = { scam: { type: "noul", noul: 0.5 } };
      response.end(
        JSON.stringify({ model, answers, usage: { input_tokens: 10, output_tokens: 1 } }),
      );
    });
  });
  const { origin: baseUrl } = await listen(server, { port: 0 });
  onTestFinished(() => closeServer(server));
  return { baseUrl, seen };
}

async function optionsOf(decisions: object[], env: Record<string, string> = {}, more: object = {}) {
  const keys = { FIRST_KEY: "first-key", SECOND_KEY: "second-key" };
  const config = await readConfig({ decisions, ...more }, { ...keys, ...env });
  return parseRouterOptions(env, config);
}

test("the services of the file are asked with their models and keys, and SIGHUP replaces them", async () => {
  const [first, second] = [await startService("m-1"), await startService("m-2")];
  const row = { service: "typesafe", apiKeyEnv: "FIRST_KEY", baseUrl: first.baseUrl };
  const services = connectServices(await optionsOf([row]));
  onTestFinished(() => services.close());
  const router = await testRouter({}, { services });
  expect((await post(router, "/v1/systemone", body)).body).toMatchObject({ model: "m-1" });
  expect(first.seen).toMatchObject([{ key: "Bearer first-key", body: { model: "jev-latest" } }]);
  const other = { ...row, apiKeyEnv: "SECOND_KEY", baseUrl: second.baseUrl, model: "jev-2" };
  services.reconfigure(await optionsOf([row, other], {}, { models: { mine: 1 } }));
  const { body: answer } = await post(router, "/v1/systemone", { ...body, model: "mine" });
  expect(answer).toMatchObject({ model: "m-2" });
  expect(second.seen).toMatchObject([{ key: "Bearer second-key", body: { model: "jev-2" } }]);
  const list = (await (await router.request("/v1/models")).json()) as { models: object[] };
  expect(list.models).toMatchObject([{ name: "mine" }, { name: "jev-latest" }, { name: "jev-2" }]);
});

test("a SIGHUP reads decisions and models of the file again, and a wrong file is not used", async () => {
  const [first, second] = [await startService("m-1"), await startService("m-2")];
  const file = join(await temporaryFolder(), "router.json");
  const row = ({ baseUrl }: typeof first) => ({ service: "typesafe", apiKeyEnv: "KEY", baseUrl });
  const write = (config: object) => writeFile(file, JSON.stringify(config));
  await write({ decisions: [row(first)] });
  const { child, firstOutput, ended } = startProgram("main.ts", {
    PORT: "0",
    ROUTER_CONFIG: file,
    KEY: "the-key",
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const origin = /http:\S+/.exec(String(await firstOutput))?.[0] ?? "";
  const ask = async (model: string) => {
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify({ ...body, model }) };
    return (await (await fetch(`${origin}/v1/systemone`, init)).json()) as object;
  };
  const reload = async () => {
    child.kill("SIGHUP");
    return String(await once(child.stderr, "data"));
  };
  expect(await ask("mine")).toMatchObject({ model: "m-1" });
  const both = { decisions: [row(first), row(second)], models: { mine: 1 } };
  await write(both);
  expect(await reload()).toContain("The configuration was read again.");
  expect(await ask("mine")).toMatchObject({ model: "m-2" });
  expect(await ask("another")).toMatchObject({ model: "m-1" });
  await write({ ...both, models: { mine: 2 } });
  expect(await reload()).toContain("models.mine is not a place in decisions, from 0 to 1");
  expect(await ask("mine")).toMatchObject({ model: "m-2" });
  child.kill("SIGTERM");
  expect(await ended).toMatchObject({ code: 0 });
}, 30_000);

test("with a cache, equal calls at once and later buy one answer, and only one is charged", async () => {
  const gate = Promise.withResolvers<void>();
  const { baseUrl, seen } = await startService("m-1", gate.promise);
  const row = { service: "typesafe", baseUrl, price: { input: 100 } };
  const services = connectServices(await optionsOf([row], { ROUTER_DECISION_CACHE: "60" }));
  onTestFinished(() => services.close());
  const router = await budgetRouter(1, {}, { services });
  const atOnce = Array.from({ length: 5 }, () => router.post("/v1/systemone", body));
  await expect.poll(() => seen.length).toBe(1);
  gate.resolve();
  const responses = [...(await Promise.all(atOnce)), await router.post("/v1/systemone", body)];
  expect(responses.map(({ status }) => status)).toEqual(Array(6).fill(200));
  const hits = responses.map(({ headers }) => headers.get("x-router-cache"));
  expect(hits.filter((hit) => hit === "hit")).toHaveLength(5);
  expect(seen).toHaveLength(1);
  expect(await router.spent()).toMatchObject({ dayNano: 1_000_000, reservedNano: 0 });
  await router.post("/v1/systemone", { ...body, state: "another" });
  expect(seen).toHaveLength(2);
});

test("a trace has the cost of the log, at the price of the file", async () => {
  const { baseUrl } = await startService("m-1");
  const row = { service: "typesafe", apiKeyEnv: "FIRST_KEY", baseUrl, price: { input: 100 } };
  const costs: unknown[] = [];
  const tracing: Tracing = async (_call, run) => {
    const evaluation = await run({});
    costs.push(evaluation.costUsd);
    return evaluation;
  };
  const { config } = await optionsOf([row]);
  const services = connectServices(await optionsOf([row]));
  onTestFinished(() => services.close());
  const [own] = services.decisions.current.list;
  const parts = { tracing, pacerFor: null, cache: null };
  const [{ evaluator, costOf }] = connectDecisions(config, own, parts).list;
  onTestFinished(() => evaluator.close());
  const evaluation = await evaluator.evaluate({ state, questions: { scam: boolean("Scam?") } });
  expect(costs).toEqual([0.001]);
  expect(costOf(evaluation)).toBe(0.001);
});

test.each([
  ["logprobs", { EVALUATOR_LOGPROBS_BASE_URL: "http://127.0.0.1:1", EVALUATOR_MODEL_ID: "m" }],
])("without a price of %s, a key with a budget gets a 400", async (name, env) => {
  const services = connectServices(parseRouterOptions({ EVALUATOR_TRANSPORT: name, ...env }));
  onTestFinished(() => services.close());
  const router = await budgetRouter(1, {}, { services });
  const response = await router.post("/v1/systemone", body);
  expect(response.status).toBe(400);
  expect(await response.text()).toContain(
    `there is no price for ${name}: set one in the decisions of router.config.json.`,
  );
});

test("without a cache, equal calls are asked each", async () => {
  const { baseUrl, seen } = await startService("m-1");
  const services = connectServices(await optionsOf([{ service: "typesafe", baseUrl }]));
  onTestFinished(() => services.close());
  const router = await testRouter({}, { services });
  for (const each of [1, 2]) {
    const { headers } = await post(router, "/v1/systemone", body);
    expect([each, headers.get("x-router-cache")]).toEqual([each, null]);
  }
  expect(seen).toHaveLength(2);
});

const pixel =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** A router whose questions are answered by a service that the emulator plays. */
async function routerOver(service: string) {
  const emulator = createEmulator({ exchanges: [] });
  onTestFinished(() => emulator.close());
  const { origin: baseUrl } = await emulator.listen();
  const account = service === "cloudflare" ? { accountId: "a" } : {};
  const row = { service, baseUrl, apiKeyEnv: "FIRST_KEY", ...account };
  const services = connectServices(await optionsOf([row]));
  onTestFinished(() => services.close());
  return testRouter({}, { services });
}

test("a box in an image is found by a service with images", async () => {
  const router = await routerOver("typesafe");
  const assets = { photo: { type: "image", format: "png", data_base64: pixel } };
  const cup = { type: "box", instructions: "the cup" };
  const asked = { state: ["photo"], questions: { cup, ...questions }, assets };
  const reply = await post(router, "/v1/systemone", asked);
  const side = expect.any(Number);
  expect(reply).toMatchObject({
    status: 200,
    body: {
      answers: {
        cup: { type: "box", box: { top: side, left: side, bottom: side, right: side } },
        scam: { type: "noul", noul: side },
      },
    },
  });
});

test.each(["gemini", "openai", "cloudflare"])(
  "an image in Google's form reaches %s",
  async (service) => {
    const image = { type: "image", mime_type: "image/png", data: pixel };
    const asked = { input: [{ type: "text", text: "What is this?" }, image], questions };
    const reply = await post(await routerOver(service), "/v1beta/decisions", asked);
    expect(reply).toMatchObject({
      status: 200,
      body: { answers: { scam: { type: "noul", noul: expect.any(Number) } } },
    });
  },
);
