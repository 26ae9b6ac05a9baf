import { createEvaluator, gatewayTransport } from "evaluator-client";
import type { EvaluationRecord } from "../evaluations/evaluation-record.ts";
import { toService } from "../evaluations/evaluation-services.ts";
import type { Ledger } from "../keys/ledger.ts";
import { budgetRouter } from "./budget-router.ts";
import { servicesOver } from "./test-router.ts";
import type { Answer } from "./upstreams.ts";

const questions = { scam: { type: "noul", instructions: "Is it a scam?" } };
const body = { model: "jev-latest", state: "You have won the lottery", questions };

/** The answer of a service, with its figure of the price. */
export const answer = (marketCost: string | null, differences: object = {}) => ({
  answers: { scam: { type: "boolean", probability: 0.5 } },
  rounding: { probabilityDecimals: 2, scoreDecimals: 2 },
  usage: { inputTokens: 50, outputTokens: 5 },
  warnings: [],
  providerMetadata: marketCost === null ? {} : { gateway: { marketCost } },
  ...differences,
});

interface RouterDifferences {
  readonly usdPerDay?: number;
  readonly maxRetries?: number;
  readonly ledger?: Ledger;
  /** The models of the services; that of the vendor reads 32,000 tokens, and any other one has no known limit. */
  readonly modelIds?: readonly string[];
}

/** A router whose services are the given answers, in this order, at the price of a dollar for a million tokens. */
export async function routerOver(
  answers: readonly Answer[],
  { usdPerDay = 1, maxRetries = 0, modelIds = [], ...parts }: RouterDifferences = {},
) {
  const records: EvaluationRecord[] = [];
  const list = answers.map((one, at) => {
    const modelId = modelIds[at];
    const transport = gatewayTransport({
      ...(modelId !== undefined && { modelId }),
      apiKey: "a-key",
      baseUrl: "http://gateway.invalid/v4/ai",
      env: {},
      fetch: async (input, init) => one(new Request(input, init)),
    });
    const evaluator = createEvaluator(
      { transport, maxRetries, limits: {}, retry: { initialDelayMs: 1 } },
      { random: () => 0 },
    );
    return toService({ name: `service-${at}`, evaluator, transport, price: 1, reportsCost: true });
  });
  const services = {
    ...servicesOver(fetch),
    decisions: { current: { list: list as never, models: new Map([["second", 1]]) } },
  };
  const observeEvaluation = (record: EvaluationRecord) => void records.push(record);
  const router = await budgetRouter(usdPerDay, {}, { services, observeEvaluation, ...parts });
  const ask = (more: object = {}) => router.post("/v1/systemone", { ...body, ...more });
  return { ...router, services, ask, records };
}
