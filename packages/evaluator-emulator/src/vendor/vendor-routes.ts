import { Hono } from "hono";
import { answerJson, standInFor } from "../answers/judgement.ts";
import {
  bearerKey,
  type Call,
  type CallEnvironment,
  type EmulatorContext,
  readJson,
} from "../call.ts";
import { mapRecord } from "../json.ts";
import {
  estimateInputTokens,
  type EvaluationInput,
  isOverTokenLimits,
} from "../questions/evaluation-input.ts";
import { kindOf } from "../questions/kinds/kinds.ts";
import { errorHandler, vendorError } from "../request-error.ts";
import { parseVendorInput } from "./vendor-input.ts";

/** Returns the vendor's direct API (contract section 4.5), under `/direct` and at the host root. */
export function vendorRoutes(context: EmulatorContext): Hono<CallEnvironment> {
  const app = new Hono<CallEnvironment>();
  for (const path of ["/direct/*", "/v1/systemone"]) {
    app.use(path, async (call, next) => {
      await next();
      call.res.headers.set("x-typesafe-request-id", `req_${context.nextId()}`);
    });
  }
  app.on("POST", ["/direct/v1/systemone", "/v1/systemone"], (call) =>
    systemOneRoute(call, context),
  );
  app.get("/direct/v1/models", (call) => {
    requireVendorKey(call, context);
    return Response.json({ models: [vendorModel] });
  });
  app.use("/direct/*", notFound).use("/v1/systemone", notFound);
  app.onError(errorHandler(toErrorResponse));
  return app;
}

function notFound(): never {
  throw vendorError(404, "Not Found");
}

/** Bodies that cannot be read are errors of a field. */
function toErrorResponse(message: string, status: number): Response {
  if (status >= 413) return Response.json({ detail: message }, { status });
  const field = { loc: ["body"], msg: message, type: "json_invalid", input: null };
  return Response.json({ detail: [field] }, { status: 422 });
}

/** `jev-latest` is an alias that moves with each release (contract section 9). */
const vendorModel = {
  name: "jev-latest",
  description: "Played by the local emulator.",
  release_date: "2026-11-01",
};

/**
 * Checks the key of a direct call; without `keys` none is needed, as on self-hosted servers of this
 * API (field fact).
 *
 * @throws {RequestError} 403 without a key, 401 with a wrong one.
 */
function requireVendorKey(call: Call, { accounts }: EmulatorContext): void {
  if (!accounts.isRestricted) return;
  const key = bearerKey(call);
  if (key === null) throw vendorError(403, "Not authenticated");
  if (accounts.find(key) === null) throw vendorError(401, "Invalid API key");
}

/** Answers one direct evaluation (contract sections 2.6 and 4.5). */
async function systemOneRoute(call: Call, context: EmulatorContext): Promise<Response> {
  requireVendorKey(call, context);
  const { model, input } = parseVendorInput(await readJson(call));
  if (input.images !== undefined && call.req.header("typesafe-danger-zone-images") !== "true") {
    const message = "Images need the header TypeSafe-Danger-Zone-Images: true.";
    throw vendorError(400, { error_type: "api_usage_error", message });
  }
  if (model !== vendorModel.name) throw vendorError(404, "Model not found");
  if (isOverTokenLimits(input)) throw vendorError(400, { error_type: "max_tokens_exceeded" });
  admit(call, input, context);
  const { basis, release, answers, usage } = context.answer(input);
  const body = {
    model: standInFor(basis) ?? release ?? model,
    answers: mapRecord(answers, (answer, id) =>
      kindOf(answer).toVendor(answer, input.questions[id]),
    ),
    usage: { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens },
  };
  return answerJson(body, basis);
}

/** Counts a call under the vendor's limits. @throws {RequestError} 429 with the seconds to wait. */
function admit(call: Call, input: EvaluationInput, { vendorGate, clock }: EmulatorContext): void {
  if (vendorGate === null) return;
  const waitMs = vendorGate.admit(bearerKey(call) ?? "", estimateInputTokens(input), clock());
  if (waitMs === 0) return;
  const detail = `Rate limit exceeded: ${vendorGate.rule}.`;
  throw vendorError(429, detail, { "retry-after": String(Math.ceil(waitMs / 1000)) });
}
