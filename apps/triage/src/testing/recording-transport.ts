import type { EvaluationRequest, Transport } from "evaluator-client";
import { sampleResponse } from "./sample-response.ts";

/** A transport that keeps what it was asked. */
export interface RecordingTransport extends Transport {
  /** The requests, in the order they were sent. */
  readonly requests: EvaluationRequest[];
  /** The most requests that were under way at once. */
  readonly mostAtOnce: () => number;
}

/** Makes a transport that answers request by request with what `respond` gives for its index. */
export function recordingTransport(
  respond: (index: number) => unknown = () => sampleResponse(),
): RecordingTransport {
  const requests: EvaluationRequest[] = [];
  let underWay = 0;
  let most = 0;
  return {
    name: "recording",
    requests,
    mostAtOnce: () => most,
    async send(request) {
      const index = requests.push(request) - 1;
      most = Math.max(most, (underWay += 1));
      await new Promise(setImmediate);
      underWay -= 1;
      return { response: respond(index), modelId: null, requestId: null, raw: null };
    },
  };
}
