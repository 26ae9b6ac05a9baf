import type { EvaluationRequest } from "../questions/request.ts";
import { boolean } from "../questions/kinds.ts";
import type { Transport, TransportReply } from "../transports/transport.ts";

/** Returns one question about a state, for {@link countingTransport}. */
export function scamRequest(state: string) {
  return { state, questions: { scam: boolean("Is it a scam?") } };
}

/** Returns a transport that answers by itself, and keeps the states it was asked about. */
export function countingTransport({
  name = "counting",
  costUsd = 0.001,
  answer = async () => undefined,
}: {
  name?: string;
  /** The price of each answer, in US dollars; null where there is none. */
  costUsd?: number | null;
  /** Awaited before each answer; what it throws is the call's failure. */
  answer?: (request: EvaluationRequest) => Promise<unknown>;
} = {}) {
  const states: unknown[] = [];
  const transport: Transport = {
    name,
    target: { url: `https://${name}.example/v1`, modelId: "a-model" },
    async send(request): Promise<TransportReply> {
      states.push(request.state);
      await answer(request);
      const response = {
        answers: { scam: { type: "boolean", probability: 0.04 } },
        rounding: { probabilityDecimals: 2, scoreDecimals: 2 },
        usage: { inputTokens: 100, outputTokens: 3 },
        warnings: [],
        providerMetadata: {},
      };
      return { response, modelId: "a-model", requestId: null, raw: response, costUsd };
    },
  };
  return { transport, states };
}
