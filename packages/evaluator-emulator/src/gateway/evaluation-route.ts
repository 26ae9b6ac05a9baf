import type { JudgedAnswer, Judgement } from "../answers/judgement.ts";
import { printedDecimals } from "../answers/print-answer.ts";
import { basisHeader, localProvider, standInFor } from "../basis.ts";
import type { EmulatorContext } from "../emulator-context.ts";
import { mapRecord } from "../json.ts";
import { isOverTokenLimits } from "../questions/tokens.ts";
import { type Call, readJson } from "../call.ts";
import { admitCall, checkGatewayCall, settleCall } from "./gateway-call.ts";
import { invalidRequest } from "./gateway-error.ts";
import { type EvaluationWire, parseGatewayInput } from "./gateway-input.ts";

/** Answers one evaluation (contract section 4.1; the successor's body also names the model). */
export async function evaluationRoute(
  call: Call,
  wire: EvaluationWire,
  context: EmulatorContext,
): Promise<Response> {
  const startTime = context.clock();
  const endpoint = { ...headersOf(wire), modelType: "evaluation" } as const;
  const admitted = checkGatewayCall(call, endpoint, context);
  const input = parseGatewayInput(await readJson(call), wire);
  if (isOverTokenLimits(input)) throw invalidRequest("The state is longer than the model reads.");
  admitCall(admitted, context);
  const judgement = context.answer(input);
  const standIn = standInFor(judgement.basis);
  const canonicalSlug = standIn ?? admitted.model.id;
  const provider = standIn === null ? admitted.model.provider : localProvider;
  const answered = { ...judgement.usage, canonicalSlug, provider, isStreamed: false, startTime };
  const body = evaluationBody(judgement, settleCall(admitted, answered, context));
  return Response.json(wire === "decision-model" ? { ...body, model: canonicalSlug } : body, {
    headers: basisHeader(judgement.basis),
  });
}

function headersOf(wire: EvaluationWire) {
  return { specificationHeader: `ai-${wire}-specification-version`, modelHeader: "ai-model-id" };
}

const vendor = "typesafe";

/** Returns the body of an answered evaluation in the gateway's form (contract section 2.3). */
function evaluationBody({ answers, usage }: Judgement, gatewayMetadata: object) {
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
