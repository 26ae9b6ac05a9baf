import type { Judgement } from "../answers/judgement.ts";
import { basisHeader, localProvider, standInFor } from "../answers/judgement.ts";
import { type Call, type EmulatorContext, readJson } from "../call.ts";
import { providerOf } from "../catalog.ts";
import { mapRecord } from "../json.ts";
import { isOverTokenLimits } from "../questions/evaluation-input.ts";
import { kindOf } from "../questions/kinds/kinds.ts";
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
  const specificationHeader = `ai-${wire}-specification-version`;
  const endpoint = {
    specificationHeader,
    modelHeader: "ai-model-id",
    modelType: "evaluation",
  } as const;
  const admitted = checkGatewayCall(call, endpoint, context);
  const asked = await readJson(call);
  const input = parseGatewayInput(asked, wire);
  if (isOverTokenLimits(input)) throw invalidRequest("The state is longer than the model reads.");
  admitCall(admitted, context);
  const judgement = context.answer(input);
  const standIn = standInFor(judgement.basis);
  const canonicalSlug = standIn ?? admitted.model.id;
  const provider = standIn === null ? providerOf(admitted.model) : localProvider;
  const answeredBy = { canonicalSlug, provider, isStreamed: false, startTime };
  const answered = { ...judgement.usage, ...answeredBy, attribution: readAttribution(asked) };
  const body = evaluationBody(judgement, settleCall(admitted, answered, context));
  return Response.json(wire === "decision-model" ? { ...body, model: canonicalSlug } : body, {
    headers: basisHeader(judgement.basis),
  });
}

const vendor = "typesafe";

/** Returns the body of an answered evaluation in the gateway's form (contract section 2.3). */
function evaluationBody({ answers, usage, decimals }: Judgement, gatewayMetadata: object) {
  return {
    answers: mapRecord(answers, (answer) => kindOf(answer).toGateway(answer)),
    rounding: { probabilityDecimals: decimals, scoreDecimals: decimals },
    usage,
    warnings: [],
    providerMetadata: { ...confidenceBlock(answers), gateway: gatewayMetadata },
  };
}

/** Returns the vendor's metadata; nothing if distributions are answered without a confidence. */
function confidenceBlock(answers: Judgement["answers"]) {
  const due = Object.entries(answers).filter(([, answer]) => kindOf(answer).isDistribution);
  const given = due.filter(([, { confidence }]) => confidence !== null);
  if (due.length > 0 && given.length === 0) return {};
  const confidence = Object.fromEntries(given.map(([id, answer]) => [id, answer.confidence]));
  return { [vendor]: { confidence } };
}
