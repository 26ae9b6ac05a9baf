import { boolean, createCatalog, createEvaluator, gatewayTransport } from "evaluator-client";

const apiKey = "local";
const request = { state: "you won the lottery", questions: { scam: boolean("Is it a scam?") } };

// Made before any request, as programs do; some runtimes forbid timers and randomness here.
createEvaluator({ transport: gatewayTransport({ apiKey }) });

/** Asks once, looks up the models, aborts once and fails once to connect; returns what came of each. */
export async function evaluateHere(baseUrl) {
  const transport = gatewayTransport({ apiKey, baseUrl });
  const evaluator = createEvaluator({ transport });
  const { answers, modelId } = await evaluator.evaluate(request);
  const models = await createCatalog({ baseUrl }).listModels();
  const controller = new AbortController();
  const { signal } = controller;
  const aborted = evaluator.evaluate(request, { signal }).catch((reason) => reason);
  controller.abort("enough");
  const nowhere = gatewayTransport({ apiKey, baseUrl: "http://127.0.0.1:3/v4/ai" });
  const failed = createEvaluator({ transport: nowhere, maxRetries: 0 }).evaluate(request);
  const { name, message, isRetryable, maybeBilled } = await failed.catch((error) => error);
  await transport.close();
  return {
    modelId,
    probability: answers.scam.probability,
    models: models.length > 0,
    aborted: await aborted,
    failure: { name, message, isRetryable, maybeBilled },
  };
}
