import { replyBody } from "../sample-requests.ts";
import { type CannedReply, toReply } from "./canned-server.ts";

/** Returns what both services answer, by method and path; an evaluation as the exchanges of a name do. */
export async function cannedReplies(name: string): Promise<ReadonlyMap<string, CannedReply>> {
  const [gatewayBody, directBody] = [
    await readResponse("gateway", name),
    await readResponse("direct", name),
  ];
  const gateway = toReply("200 OK", gatewayBody, "x-vercel-id: fra1::bench-1\r\n");
  return new Map([
    ["POST /v4/ai/evaluation-model", gateway],
    ["POST /v4/ai/decision-model", gateway],
    ["POST /v4/ai/language-model", toReply("200 OK", replyBody)],
    ["GET /v1/models", toReply("200 OK", { object: "list", data: [] })],
    ["POST /v1/systemone", toReply("200 OK", directBody, "x-typesafe-request-id: req_bench1\r\n")],
  ]);
}

async function readResponse(wire: "gateway" | "direct", name: string): Promise<object> {
  const path = `evaluator-fixtures/exchanges/${wire}/${name}.json`;
  const exchange = (await import(path, { with: { type: "json" } })) as {
    default: { response: { body: object } };
  };
  return exchange.default.response.body;
}
