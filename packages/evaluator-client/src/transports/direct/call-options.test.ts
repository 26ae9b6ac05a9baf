import { expect, test } from "vitest";
import { createEvaluator } from "../../create-evaluator.ts";
import { questions, replyOf } from "../../testing/ask-service.ts";
import { directTransport } from "./direct-transport.ts";
import type { ServiceName } from "./services.ts";

test("a call to OpenRouter has its options, and another service has none", async () => {
  const bodies: unknown[] = [];
  const fetch = async (_: unknown, { body }: RequestInit) => {
    bodies.push(JSON.parse(body as string));
    return Response.json(replyOf("openrouter"));
  };
  const ask = (service: ServiceName, providerOptions: Record<string, object>) => {
    const transport = directTransport({ service, apiKey: "k", env: {}, fetch });
    const request = { state: "a letter", questions };
    return createEvaluator({ transport }).evaluate(request, { providerOptions });
  };
  const own = { provider: { order: ["typesafe"] }, session_id: "s-1", trace: { trace_id: "t" } };
  await ask("openrouter", { openrouter: { ...own, user: "u" } });
  expect(bodies).toMatchObject([{ model: "typesafe/jev-1.14", ...own, user: "u" }]);
  await expect(ask("openrouter", { openrouter: { models: [] } })).rejects.toThrow(
    'The option "providerOptions" has "models"; write { openrouter: { provider, session_id, trace, user } }.',
  );
  await expect(ask("openrouter", { gateway: {} })).rejects.toThrow('has "gateway"; write');
  await expect(ask("perplexity", { perplexity: {} })).rejects.toThrow("cannot be sent by");
  expect(bodies).toHaveLength(1);
});

test("OpenRouter's options of every call are checked once, and those of a call win", async () => {
  const ofAll = { openrouter: { provider: { order: ["typesafe"] }, user: "all" } };
  const bodies: unknown[] = [];
  const fetch = async (_: unknown, { body }: RequestInit) => {
    bodies.push(JSON.parse(body as string));
    return Response.json(replyOf("openrouter"));
  };
  const options = { apiKey: "k", env: {}, fetch, providerOptions: ofAll };
  const evaluator = createEvaluator({
    transport: directTransport({ ...options, service: "openrouter" }),
  });
  ofAll.openrouter.user = "changed later";
  await evaluator.evaluate({ state: "a letter", questions });
  const ofOne = { providerOptions: { openrouter: { user: "one" } } };
  await evaluator.evaluate({ state: "a letter", questions }, ofOne);
  const { provider } = ofAll.openrouter;
  expect(bodies).toMatchObject([
    { provider, user: "all" },
    { provider, user: "one" },
  ]);
  const wrong = { openrouter: { models: [] } };
  expect(() =>
    directTransport({ ...options, service: "openrouter", providerOptions: wrong }),
  ).toThrow('has "models"; write { openrouter: { provider, session_id, trace, user } }');
  expect(() => directTransport({ ...options, service: "perplexity" })).toThrow(
    "cannot be sent by the transport perplexity",
  );
});
