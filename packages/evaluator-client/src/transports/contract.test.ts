import type { Exchange } from "../exchanges/exchange.ts";
import { loadFixtures, replayExchanges } from "../testing/replay-exchanges.ts";
import { expect, test } from "vitest";
import { createEvaluator } from "../create-evaluator.ts";
import { AuthenticationError, RateLimitError, StatusError } from "../errors.ts";
import type { Evaluation } from "../evaluation.ts";
import type { EvaluationRequest } from "../questions/request.ts";
import { directTransport } from "./direct/direct-transport.ts";
import { gatewayTransport } from "./gateway/gateway-transport.ts";
import type { Transport } from "./transport.ts";

const transports = {
  gateway: () => gatewayTransport({ apiKey: "a-gateway-key", env: {} }),
  direct: () => directTransport({ apiKey: "a-vendor-key", env: {} }),
};

const exchanges = loadFixtures();
const names = new Set(exchanges.map(({ name }) => name));
const situations = [...names]
  .filter((name) => name.startsWith("gateway/"))
  .map((name) => name.slice("gateway/".length))
  .filter((situation) => names.has(`direct/${situation}`));

function find(name: string): Exchange {
  const exchange = exchanges.find((exchange) => exchange.name === name);
  if (exchange === undefined) throw new Error(`There is no ${name}.`);
  return exchange;
}

/** The evaluation, or the error, that a recorded exchange leads to. */
async function evaluateRecorded(name: string, transport: Transport, request: EvaluationRequest) {
  await using network = await replayExchanges([name]);
  // One situation is an HTTP error for a request that the client itself would reject.
  const questionLimits = { maxLevels: 11 };
  const evaluator = createEvaluator({ transport, maxRetries: 0, questionLimits });
  const outcome = await evaluator.evaluate(request).catch((error: unknown) => error);
  expect(network.requests).toHaveLength(1);
  return outcome;
}

/** What a caller acts on: the class that both transports know, whether to retry, and when. */
function failureKind(failure: unknown) {
  if (!(failure instanceof StatusError)) return null;
  const { isRetryable, retryAfterMs } = failure;
  const kind = [AuthenticationError, RateLimitError].find((kind) => failure instanceof kind);
  return { kind: kind?.name ?? StatusError.name, isRetryable, retryAfterMs };
}

/** Both outcomes of a situation, from the gateway's exchange and from the vendor's. */
async function outcomesOf(situation: string) {
  const request = find(`gateway/${situation}`).request.body as unknown as EvaluationRequest;
  return {
    gateway: await evaluateRecorded(`gateway/${situation}`, transports.gateway(), request),
    direct: await evaluateRecorded(`direct/${situation}`, transports.direct(), request),
  };
}

const isAnswered = (situation: string) => find(`gateway/${situation}`).response.status === 200;

test.each(situations.filter(isAnswered))(
  "the answers of %s mean the same through both transports",
  async (situation) => {
    const { gateway, direct } = await outcomesOf(situation);
    expect(gateway).not.toBeInstanceOf(Error);
    expect(direct).not.toBeInstanceOf(Error);
    const { answers, confidence, usage } = gateway as Evaluation;
    expect(find(`gateway/${situation}`).response.body).toMatchObject({ answers, usage });
    expect(direct).toMatchObject({ answers, confidence, usage });
  },
);

test.each(situations.filter((situation) => !isAnswered(situation)))(
  "the failure of %s means the same through both transports",
  async (situation) => {
    expect.assertions(6);
    const { gateway, direct } = await outcomesOf(situation);
    expect(failureKind(gateway)).not.toBeNull();
    expect(failureKind(direct)).toEqual(failureKind(gateway));
    expect(gateway).toMatchObject({ status: find(`gateway/${situation}`).response.status });
    expect(direct).toMatchObject({ status: find(`direct/${situation}`).response.status });
  },
);
