import { expect, test } from "vitest";
import { parseRouterOptions } from "../router-options.ts";
import { connectServices } from "../services/connect-services.ts";
import { servicesOfEmulator, testRouter } from "../testing/test-router.ts";
import { decisionFor } from "../testing/upstreams.ts";

const asJson = { "content-type": "application/json" };

async function readDecider(request: (path: string) => Promise<Response>): Promise<unknown> {
  return ((await (await request("/readyz")).json()) as { decider: unknown }).decider;
}

/** An answer of a service that is no emulator. */
const answer = decisionFor("nano", {
  providerMetadata: { gateway: { routing: { canonicalSlug: "typesafe-ai/jev" } } },
});

test("readyz names who answered last, and nobody before the first answer", async () => {
  const { request, chat } = await testRouter({ evaluation: () => Response.json(answer) });
  expect(await readDecider(request)).toEqual({ modelId: null, isEmulated: null });
  await chat({ message: "hi" });
  expect(await readDecider(request)).toEqual({ modelId: "typesafe-ai/jev", isEmulated: false });
});

test.each([
  ["Which of these is it, by the way?", "local/lexical-1"],
  ["hi", "typesafe-ai/jev"], // a recording, which names the model that was recorded
])("an emulator behind a port is named as one: %s", async (message, modelId) => {
  const services = await servicesOfEmulator();
  const { request } = await testRouter({}, { services });
  const body = JSON.stringify({ message });
  const response = await request("/decide", { method: "POST", headers: asJson, body });
  const { wire } = (await response.json()) as { wire: string };
  expect(wire).toBe(`emulator ${services.engineAddress}`);
  expect(await readDecider(request)).toEqual({ modelId, isEmulated: true });
});

test("the emulator of the router's own process is known before the first answer", async () => {
  const services = connectServices(parseRouterOptions({}));
  const { request } = await testRouter({}, { services });
  expect(await readDecider(request)).toEqual({ modelId: null, isEmulated: true });
  await request("/decide", { method: "POST", headers: asJson, body: '{"message":"hi"}' });
  expect(await readDecider(request)).toEqual({ modelId: "typesafe-ai/jev", isEmulated: true });
});
