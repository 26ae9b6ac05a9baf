import { basisHeader } from "../basis-header.ts";
import type { EmulatorContext } from "../emulator-context.ts";
import { lexicalModel, localProvider } from "../local-model.ts";
import { isOverTokenLimits } from "../questions/token-limits.ts";
import { readJson } from "../server/read-json.ts";
import { admitCall } from "./admit-call.ts";
import { checkGatewayCall } from "./check-gateway-call.ts";
import { evaluationBody } from "./evaluation-body.ts";
import { invalidRequest } from "./gateway-error.ts";
import { parseGatewayInput } from "./parse-gateway-input.ts";
import { settleCall } from "./settle-call.ts";

/** A generation of the gateway's evaluation wire: the contract's, or its successor. */
export type EvaluationWire = "evaluation-model" | "decision-model";

/** Answers one evaluation (contract section 4.1; the successor's body also names the model). */
export async function evaluationRoute(
  request: Request,
  wire: EvaluationWire,
  context: EmulatorContext,
): Promise<Response> {
  const startTime = context.clock();
  const endpoint = { ...headersOf(wire), modelType: "evaluation" } as const;
  const call = checkGatewayCall(request.headers, endpoint, context);
  const input = parseGatewayInput(await readJson(request));
  if (isOverTokenLimits(input)) throw invalidRequest("The state is longer than the model reads.");
  admitCall(call, context);
  const judgement = context.answer(input);
  const isLocal = judgement.basis !== "recorded";
  const canonicalSlug = isLocal ? lexicalModel : call.model.id;
  const provider = isLocal ? localProvider : call.model.provider;
  const answered = { ...judgement.usage, canonicalSlug, provider, isStreamed: false, startTime };
  const body = evaluationBody(judgement, settleCall(call, answered, context));
  return Response.json(wire === "decision-model" ? { ...body, model: canonicalSlug } : body, {
    headers: basisHeader(judgement.basis),
  });
}

function headersOf(wire: EvaluationWire) {
  return { specificationHeader: `ai-${wire}-specification-version`, modelHeader: "ai-model-id" };
}
