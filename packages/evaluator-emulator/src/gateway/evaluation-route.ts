import { basisHeader } from "../basis-header.ts";
import type { EmulatorContext } from "../emulator-context.ts";
import { localProvider, standInFor } from "../local-model.ts";
import { isOverTokenLimits } from "../questions/token-limits.ts";
import type { Call } from "../server/call.ts";
import { readJson } from "../server/read-json.ts";
import { jsonReply, type Reply } from "../server/reply.ts";
import { admitCall } from "./admit-call.ts";
import { checkGatewayCall } from "./check-gateway-call.ts";
import { evaluationBody } from "./evaluation-body.ts";
import { invalidRequest } from "./gateway-error.ts";
import { parseGatewayInput, type EvaluationWire } from "./parse-gateway-input.ts";
import { settleCall } from "./settle-call.ts";

/** Answers one evaluation (contract section 4.1; the successor's body also names the model). */
export async function evaluationRoute(
  call: Call,
  wire: EvaluationWire,
  context: EmulatorContext,
): Promise<Reply> {
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
  return jsonReply(wire === "decision-model" ? { ...body, model: canonicalSlug } : body, {
    headers: basisHeader(judgement.basis),
  });
}

function headersOf(wire: EvaluationWire) {
  return { specificationHeader: `ai-${wire}-specification-version`, modelHeader: "ai-model-id" };
}
