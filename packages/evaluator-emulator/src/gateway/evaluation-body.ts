import type { JudgedAnswer, Judgement } from "../answers/judgement.ts";
import { printedDecimals } from "../answers/round-to-printed.ts";
import { mapRecord } from "../questions/map-record.ts";

const vendor = "typesafe";

/** The body of an answered evaluation in the gateway's form (contract section 2.3). */
export function evaluationBody({ answers, usage }: Judgement, gatewayMetadata: object) {
  return {
    answers: mapRecord(answers, toGatewayAnswer),
    rounding: { probabilityDecimals: printedDecimals, scoreDecimals: printedDecimals },
    usage,
    warnings: [],
    providerMetadata: {
      [vendor]: { confidence: confidenceOf(answers) },
      gateway: gatewayMetadata,
    },
  };
}

function toGatewayAnswer(answer: JudgedAnswer) {
  if (answer.type === "boolean") return answer;
  const { confidence: _moved, ...rest } = answer;
  return rest;
}

function confidenceOf(answers: Judgement["answers"]): Record<string, number> {
  return Object.fromEntries(
    Object.entries(answers).flatMap(([id, answer]) =>
      answer.type === "boolean" || answer.confidence === null ? [] : [[id, answer.confidence]],
    ),
  );
}
