import type { Exchange } from "evaluator-fixtures";
import type { Content } from "../questions/evaluation-input.ts";
import type { AnswerSource, Judgement } from "../answers/judgement.ts";
import { canonicalJson } from "../questions/canonical-json.ts";
import { readGatewayRecording } from "./read-gateway-recording.ts";
import { readVendorRecording } from "./read-vendor-recording.ts";
import type { Recording } from "./recording.ts";

const readers: readonly [
  pathEnd: string,
  read: (request: unknown, response: unknown) => Recording,
][] = [
  ["/evaluation-model", readGatewayRecording],
  ["/decision-model", readGatewayRecording],
  ["/v1/systemone", readVendorRecording],
];

/**
 * Answers a request as a recorded exchange did, over whichever wire either came.
 * Exchanges that are no successful evaluation are left out; of two for one request the first counts.
 */
export function recordedAnswers(exchanges: readonly Exchange[]): AnswerSource {
  const judgements = new Map<string, Judgement>();
  const lengths = new Set<number>();
  for (const { input, judgement } of exchanges.flatMap(readExchange)) {
    const key = canonicalJson(input);
    if (!judgements.has(key)) judgements.set(key, judgement);
    lengths.add(lengthOf(input.state));
  }
  return (input) =>
    lengths.has(lengthOf(input.state)) ? (judgements.get(canonicalJson(input)) ?? null) : null;
}

/** The length of a state's JSON: cheap to know, and the order of keys does not change it. */
function lengthOf(state: Content): number {
  return JSON.stringify(state).length;
}

function readExchange({ request, response }: Exchange): Recording[] {
  const reader = readers.find(([pathEnd]) => request.path.endsWith(pathEnd));
  if (reader === undefined || response.status >= 300) return [];
  try {
    return [reader[1](request.body, response.body)];
  } catch {
    // A refusal or a response that breaks the contract is recorded for other tests.
    return [];
  }
}
