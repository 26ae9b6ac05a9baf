import type { EmulatorContext } from "../emulator-context.ts";
import { jsonReply, withHeaders, type Handler } from "../server/reply.ts";
import { routeTable } from "../server/route-table.ts";
import { UnreadableBody } from "../server/unreadable-body.ts";
import { requireVendorKey } from "./require-vendor-key.ts";
import { systemOneRoute } from "./system-one-route.ts";
import { VendorError } from "./vendor-error.ts";
import { vendorModels } from "./vendor-models.ts";

/** The vendor's direct API (contract section 4.5), under `/direct` and at the host root. */
export function vendor(context: EmulatorContext): Handler {
  const systemOne: Handler = (call) => systemOneRoute(call, context);
  const answer = routeTable(
    {
      "POST /direct/v1/systemone": systemOne,
      "POST /v1/systemone": systemOne,
      "GET /direct/v1/models": (call) => {
        requireVendorKey(call, context);
        return jsonReply({ models: vendorModels });
      },
    },
    () => new VendorError(404, "Not Found").toReply(),
  );
  const answerOrRefuse: Handler = async (call) => {
    try {
      return await answer(call);
    } catch (error) {
      return toVendorError(error).toReply();
    }
  };
  return async (call) => {
    const reply = await answerOrRefuse(call);
    return withHeaders(reply, { "x-typesafe-request-id": `req_${context.nextId()}` });
  };
}

function toVendorError(error: unknown): VendorError {
  if (error instanceof VendorError) return error;
  if (error instanceof UnreadableBody && error.status === 413) {
    return new VendorError(413, error.message);
  }
  if (error instanceof UnreadableBody) {
    const field = { loc: ["body"], msg: error.message, type: "json_invalid", input: null };
    return new VendorError(422, [field]);
  }
  return new VendorError(500, "The emulator failed; this is a defect of the emulator.");
}
