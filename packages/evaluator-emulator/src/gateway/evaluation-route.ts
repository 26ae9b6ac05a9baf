import type { JudgedAnswer, Judgement } from "../answers/judgement.ts";
import { basisHeader, localProvider, standInFor } from "../basis.ts";
import type { EmulatorContext } from "../emulator-context.ts";
import { mapRecord } from "../json.ts";
import { isOverTokenLimits } from "../questions/tokens.ts";
import { type Call, readJson } from "../call.ts";
import { admitCall, checkGatewayCall, readAttribution, settleCall } from "./gateway-call.ts";
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
  const asked = await readJson(call);
  const input = parseGatewayInput(asked, wire);
  if (isOverTokenLimits(input)) throw invalidRequest("The state is longer than the model reads.");
  admitCall(admitted, context);
  const judgement = context.answer(input);
  const standIn = standInFor(judgement.basis);
  const canonicalSlug = standIn ?? admitted.model.id;
  const provider = standIn === null ? admitted.model.provider : localProvider;
  const answeredBy = { canonicalSlug, provider, isStreamed: false, startTime };
  const answered = { ...judgement.usage, ...answeredBy, attribution: readAttribution(asked) };
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
function evaluationBody({ answers, usage, decimals }: Judgement, gatewayMetadata: object) {
  return {
    answers: mapRecord(answers, toGatewayAnswer),
    rounding: { probabilityDecimals: decimals, scoreDecimals: decimals },
    usage,
    warnings: [],
    providerMetadata: {
      ...confidenceBlock(answers),
      gateway: gatewayMetadata,
    },
  };
}

function toGatewayAnswer(answer: JudgedAnswer) {
  if (answer.type === "boolean") return answer;
  const { confidence: _moved, ...rest } = answer;
  return rest;
}

/** The vendor's block of metadata; none where answers that should have a confidence have none. */
function confidenceBlock(answers: Judgement["answers"]) {
  const due = Object.entries(answers).flatMap(([id, answer]) =>
    answer.type === "boolean" ? [] : [[id, answer.confidence] as const],
  );
  const given = due.filter(([, confidence]) => confidence !== null);
  if (due.length > 0 && given.length === 0) return {};
  return { [vendor]: { confidence: Object.fromEntries(given) } };
}
