import { type Exchange, loadExchanges } from "evaluator-fixtures";
import { replayExchanges } from "evaluator-fixtures/network";
import { describe, expect, test } from "vitest";
import { createEvaluator } from "../create-evaluator.ts";
import type { Evaluation, EvaluationRequest } from "../evaluation.ts";
import { directTransport } from "./direct/direct-transport.ts";
import { gatewayTransport } from "./gateway/gateway-transport.ts";
import type { Transport } from "./transport.ts";

const transports = {
  gateway: () => gatewayTransport({ apiKey: "a-gateway-key", env: {} }),
  direct: () => directTransport({ apiKey: "a-vendor-key", env: {} }),
};

const exchanges = loadExchanges();
const names = new Set(exchanges.map(({ name }) => name));
const situations = [...names]
  .filter((name) => name.startsWith("gateway/"))
  .map((name) => name.slice("gateway/".length))
  .filter((situation) => names.has(`direct/${situation}`));

function find(name: string): Exchange {
  return exchanges.find((exchange) => exchange.name === name) ?? expect.unreachable(name);
}

/** The evaluation, or the error, that a recorded exchange leads to. */
async function evaluateRecorded(name: string, transport: Transport, request: EvaluationRequest) {
  await using network = await replayExchanges([name]);
  // One situation is a refusal by the service of what the client would refuse itself.
  const questionLimits = { maxLevels: 11 };
  const evaluator = createEvaluator({ transport, maxRetries: 0, questionLimits });
  const outcome = await evaluator.evaluate(request).catch((error: unknown) => error);
  expect(network.requests).toHaveLength(1);
  return outcome;
}

describe.each(situations)("%s", (situation) => {
  const gatewayExchange = find(`gateway/${situation}`);
  const { status, body } = gatewayExchange.response;
  const request = gatewayExchange.request.body as unknown as EvaluationRequest;

  test("means the same through both transports", async () => {
    const gateway = await evaluateRecorded(`gateway/${situation}`, transports.gateway(), request);
    const direct = await evaluateRecorded(`direct/${situation}`, transports.direct(), request);
    const isAnswered = status === 200;
    expect(gateway instanceof Error).toBe(!isAnswered);
    expect(direct instanceof Error).toBe(!isAnswered);
    if (!isAnswered) return;
    const { answers, confidence, usage } = gateway as Evaluation;
    expect(body).toMatchObject({ answers, usage });
    expect(direct).toMatchObject({ answers, confidence, usage });
  });
});
