import { basisHeader } from "../basis-header.ts";
import type { EmulatorContext } from "../emulator-context.ts";
import { standInFor } from "../local-model.ts";
import { isOverTokenLimits } from "../questions/token-limits.ts";
import type { Call } from "../server/call.ts";
import { readJson } from "../server/read-json.ts";
import { jsonReply, type Reply } from "../server/reply.ts";
import { parseVendorInput } from "./parse-vendor-input.ts";
import { requireVendorKey } from "./require-vendor-key.ts";
import { systemOneBody } from "./system-one-body.ts";
import { VendorError } from "./vendor-error.ts";
import { vendorModels } from "./vendor-models.ts";

/** Answers one direct evaluation (contract sections 2.6 and 4.5). */
export async function systemOneRoute(call: Call, context: EmulatorContext): Promise<Reply> {
  requireVendorKey(call, context);
  const vendorRequest = parseVendorInput(await readJson(call));
  const { model, input } = vendorRequest;
  if (!vendorModels.some(({ name }) => name === model)) {
    throw new VendorError(404, "Model not found");
  }
  if (isOverTokenLimits(input)) throw new VendorError(400, { error_type: "max_tokens_exceeded" });
  const judgement = context.answer(input);
  const answeredBy = standInFor(judgement.basis) ?? judgement.release ?? model;
  return jsonReply(systemOneBody(vendorRequest, judgement, answeredBy), {
    headers: basisHeader(judgement.basis),
  });
}
