import { answerJson, standInFor } from "../answers/judgement.ts";
import {
  answerBy,
  bearerKey,
  type Call,
  type EmulatorContext,
  isVendorPath,
  readJson,
  type Side,
  withErrors,
} from "../call.ts";
import { mapRecord } from "../json.ts";
import {
  estimateInputTokens,
  type EvaluationInput,
  isOverTokenLimits,
} from "../questions/evaluation-input.ts";
import { toKind } from "../questions/kinds/kinds.ts";
import { vendorError } from "../request-error.ts";
import { readForm } from "./multipart.ts";
import { parseVendorInput } from "./vendor-input.ts";

/** Returns the vendor's direct API (contract section 4.5), under `/direct` and at the host root. */
export function vendorRoutes(emulatorContext: EmulatorContext): Side {
  const systemOne = (emulatedCall: Call) => systemOneRoute(emulatedCall, emulatorContext);
  const routes = {
    "POST /direct/v1/systemone": systemOne,
    "POST /v1/systemone": systemOne,
    "GET /direct/v1/models": (emulatedCall: Call) => {
      requireVendorKey(emulatedCall, emulatorContext);
      return Response.json({ models: [vendorModel] });
    },
  };
  const answer = withErrors(async (emulatedCall) => {
    const response = await answerBy(routes, emulatedCall);
    if (response === null) throw vendorError(404, "Not Found");
    return response;
  }, toErrorResponse);
  return async (emulatedCall) => {
    if (!isVendorPath(emulatedCall.path)) return null;
    const response = await answer(emulatedCall);
    response.headers.set("x-typesafe-request-id", `req_${emulatorContext.nextId()}`);
    return response;
  };
}

/** Bodies that cannot be read are errors of a field. */
function toErrorResponse(message: string, statusCode: number): Response {
  if (statusCode >= 413) return Response.json({ detail: message }, { status: statusCode });
  const field = { loc: ["body"], msg: message, type: "json_invalid", input: null };
  return Response.json({ detail: [field] }, { status: 422 });
}

/** `jev-latest` is an alias that moves with each release (contract section 9). */
const vendorModel = {
  name: "jev-latest",
  description: "Played by the local emulator.",
  release_date: "2026-11-01",
};

const modelPattern = /^jev-(?:latest|preview|\d[\w.]*)$/;
/** The releases before 1.14 have no kind of question about an image. */
const oldModelPattern = /^jev-1\.(?:\d|1[0-3])(?:\.|$)/;

/** @throws {RequestError} 400 for a question about an image without one, or of an old release. */
function checkImages(modelId: string, { questions, images }: EvaluationInput): void {
  const questionKind = Object.values(questions)
    .map(toKind)
    .find(({ needsImage }) => needsImage);
  if (questionKind === undefined) return;
  if (oldModelPattern.test(modelId)) throw vendorError(400, "Invalid request.");
  if (images !== undefined) return;
  const message = `A ${questionKind.names.vendor} question needs an image.`;
  throw vendorError(400, { error_type: "api_usage_error", message });
}

/**
 * Checks the key of a direct call; without `keys` none is needed, as on self-hosted servers of this
 * API (field fact).
 *
 * @throws {RequestError} 403 without a key, 401 with a wrong one.
 */
function requireVendorKey(emulatedCall: Call, { accounts }: EmulatorContext): void {
  if (!accounts.isRestricted) return;
  const accountKey = bearerKey(emulatedCall);
  if (accountKey === null) throw vendorError(403, "Not authenticated");
  if (accounts.find(accountKey) === null) throw vendorError(401, "Invalid API key");
}

/** Answers one direct evaluation (contract sections 2.6 and 4.5). */
async function systemOneRoute(
  emulatedCall: Call,
  emulatorContext: EmulatorContext,
): Promise<Response> {
  requireVendorKey(emulatedCall, emulatorContext);
  const form = await readForm(emulatedCall);
  const { model, input } = parseVendorInput(form ?? (await readJson(emulatedCall)));
  const isOptedIn = form !== null || emulatedCall.header("typesafe-danger-zone-images") === "true";
  if (input.images !== undefined && !isOptedIn) {
    const message = "Images need the header TypeSafe-Danger-Zone-Images: true.";
    throw vendorError(400, { error_type: "api_usage_error", message });
  }
  if (!modelPattern.test(model)) throw vendorError(404, "Model not found");
  checkImages(model, input);
  if (isOverTokenLimits(input)) throw vendorError(400, { error_type: "max_tokens_exceeded" });
  admit(emulatedCall, input, emulatorContext);
  const { basis, release, answers, usage } = emulatorContext.answer(input);
  const replyBody = {
    model: standInFor(basis) ?? release ?? model,
    answers: mapRecord(answers, (judgedAnswer, questionId) =>
      toKind(judgedAnswer).toVendor(judgedAnswer, input.questions[questionId]),
    ),
    usage: { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens },
  };
  return answerJson(replyBody, basis);
}

/** Counts a call under the vendor's limits. @throws {RequestError} 429 with the seconds to wait. */
function admit(
  emulatedCall: Call,
  evaluationInput: EvaluationInput,
  { vendorGate, clock }: EmulatorContext,
): void {
  if (vendorGate === null) return;
  const waitMs = vendorGate.admit(
    bearerKey(emulatedCall) ?? "",
    estimateInputTokens(evaluationInput),
    clock(),
  );
  if (waitMs === 0) return;
  const detail = `Rate limit exceeded: ${vendorGate.rule}.`;
  throw vendorError(429, detail, { "retry-after": String(Math.ceil(waitMs / 1000)) });
}
