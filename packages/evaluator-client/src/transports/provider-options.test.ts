import { expect, test } from "vitest";
import { createEvaluator } from "../create-evaluator.ts";
import { cache } from "../middleware/cache.ts";
import { countingTransport, scamRequest } from "../testing/counting-transport.ts";
import { emailRequest, gatewayBody } from "../testing/email-evaluation.ts";
import { type GatewayTransportOptions, gatewayTransport } from "./gateway/gateway-transport.ts";

/** An evaluator at the gateway, and the bodies that it sends. */
function atGateway(options: GatewayTransportOptions = {}) {
  const bodies: unknown[] = [];
  const fetch: GatewayTransportOptions["fetch"] = async (_, init) => {
    bodies.push(JSON.parse(init?.body as string));
    return Response.json(gatewayBody);
  };
  const transport = gatewayTransport({ apiKey: "a-key", fetch, ...options });
  return { bodies, evaluator: createEvaluator({ transport }) };
}

const routing = {
  order: ["azure", "typesafe"],
  only: ["azure", "typesafe"],
  zeroDataRetention: true,
  user: "team-7",
  tags: ["triage"],
};

test.each(["evaluation-model", "decision-model"] as const)(
  "sends the options of the transport and those of the call, which win, over %s",
  async (wire) => {
    const providerOptions = { gateway: { ...routing, tags: ["all"] }, azure: { tier: "low" } };
    const { bodies, evaluator } = atGateway({ wire, providerOptions });
    await evaluator.evaluate(emailRequest);
    const ofCall = { gateway: { tags: ["triage"] }, typesafe: { trace: true } };
    await evaluator.evaluate(emailRequest, { providerOptions: ofCall });
    const plain = atGateway({ wire });
    await plain.evaluator.evaluate(emailRequest);
    const [body] = plain.bodies as [object];
    expect(bodies).toEqual([
      { ...body, providerOptions },
      {
        ...body,
        providerOptions: { gateway: routing, azure: { tier: "low" }, typesafe: { trace: true } },
      },
    ]);
    expect(body).not.toHaveProperty("providerOptions");
  },
);

test.each<[string, object]>([
  ['"zeroDataRetention"', { gateway: { zeroDataRetentoin: true } }],
  ["providerOptions.gateway.zeroDataRetention", { gateway: { zeroDataRetention: "yes" } }],
  ["providerOptions.gateway.order", { gateway: { order: "azure" } }],
  ["providerOptions.gateway.tags.0", { gateway: { tags: [""] } }],
  ["providerOptions.azure", { azure: "low" }],
])("names a wrong %s, of a call and of the transport, and sends nothing", async (name, wrong) => {
  const { bodies, evaluator } = atGateway();
  const providerOptions = wrong as never;
  const asked = evaluator.evaluate(emailRequest, { providerOptions });
  await expect(asked).rejects.toMatchObject({ name: "ConfigurationError" });
  await expect(asked).rejects.toThrow(name);
  expect(() => gatewayTransport({ apiKey: "a-key", providerOptions })).toThrow(name);
  expect(bodies).toEqual([]);
});

test("a transport without such options rejects them: they may be a promise about data", async () => {
  const { transport, states } = countingTransport();
  const providerOptions = { gateway: { zeroDataRetention: true } };
  const asked = createEvaluator({ transport }).evaluate(scamRequest("a"), { providerOptions });
  await expect(asked).rejects.toMatchObject({ option: "providerOptions" });
  expect(states).toEqual([]);
});

test("a cache keeps calls with other options apart", async () => {
  const { bodies, evaluator } = atGateway();
  const cached = evaluator.with(cache());
  const ask = (only?: string) =>
    cached.evaluate(emailRequest, only ? { providerOptions: { gateway: { only: [only] } } } : {});
  for (const only of [undefined, "a", "b", "a", undefined]) await ask(only);
  expect(bodies).toHaveLength(3);
});
