import { expect, test } from "vitest";
import { directTransport } from "./direct/direct-transport.ts";
import { gatewayTransport, type GatewayWire } from "./gateway/gateway-transport.ts";

test.each<[() => unknown, string, string]>([
  [
    () => gatewayTransport({ apiKey: "k", wire: "pigeon" as GatewayWire }),
    "wire",
    'The option "wire" is none of evaluation-model, decision-model.',
  ],
  [
    () => gatewayTransport({ apiKey: "k", modelId: "a b" }),
    "modelId",
    'The option "modelId" (EVALUATOR_MODEL_ID) has a space, line break or other character that a header cannot carry.',
  ],
  [
    () => directTransport({ apiKey: null, model: "" }),
    "model",
    'No model: pass the option "model" or set EVALUATOR_MODEL_ID.',
  ],
  ...["", "gateway"].map((vendor): [() => unknown, string, string] => [
    () => directTransport({ apiKey: null, vendor }),
    "vendor",
    'The option "vendor" is not a vendor\'s key in providerMetadata, such as "typesafe".',
  ]),
])("rejects %o for the option %s", (create, option, message) => {
  const expected = { name: "ConfigurationError", option, message };
  expect(create).toThrow(expect.objectContaining(expected));
});

test("both transports say where they send, and the vendor's limits", () => {
  const env = { EVALUATOR_MODEL_ID: undefined };
  expect(gatewayTransport({ apiKey: "k", env })).toMatchObject({
    name: "gateway",
    target: {
      url: "https://ai-gateway.vercel.sh/v4/ai/evaluation-model",
      modelId: "typesafe-ai/jev",
    },
  });
  expect(gatewayTransport({ apiKey: "k", env }).limits).toBeUndefined();
  expect(directTransport({ apiKey: null, env })).toMatchObject({
    name: "direct",
    target: { url: "https://api.typesafe.ai/v1/systemone", modelId: "jev-latest" },
    limits: { requestsPerMinute: 1200, tokensPerSecond: 250_000 },
  });
});
