import type { EvaluationRequest } from "../questions/request.ts";
import type { Transport } from "../transports/transport.ts";

/** Returns a transport that answers with these answers by question id, and keeps the ids of each request. */
export function answeringTransport({
  name = "first",
  modelId = `model of ${name}`,
  costUsd = 0.001,
  answers,
  before = async () => undefined,
  usage = { inputTokens: 100, outputTokens: 3 },
  warnings = [],
  usdPerMillionTokens,
  estimate,
}: {
  name?: string;
  modelId?: string | null;
  costUsd?: number | null;
  answers: Readonly<Record<string, object | number>>;
  before?: (request: EvaluationRequest) => Promise<unknown>;
  usage?: object | null;
  warnings?: readonly object[];
  usdPerMillionTokens?: number;
  estimate?: NonNullable<Transport["estimate"]>;
}) {
  const asked: string[][] = [];
  const transport: Transport = {
    name,
    ...(usdPerMillionTokens !== undefined && { usdPerMillionTokens }),
    ...(estimate && { estimate }),
    target: { url: `https://${name}.example/v1`, modelId: name },
    async send(request) {
      const ids = Object.keys(request.questions);
      asked.push(ids);
      await before(request);
      const entries = ids.map((id): [string, unknown] => {
        const answer = Object.hasOwn(answers, id) ? answers[id] : undefined;
        const isYes = typeof answer === "number";
        return [id, isYes ? { type: "boolean", probability: answer } : answer];
      });
      const rounding = { probabilityDecimals: 2, scoreDecimals: 2 };
      const response = { answers: Object.fromEntries(entries), rounding, usage, warnings };
      return { response, modelId, requestId: null, raw: response, costUsd };
    },
  };
  return { transport, asked };
}
