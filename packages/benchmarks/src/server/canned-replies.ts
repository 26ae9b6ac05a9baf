import type { Questions } from "evaluator-client";
import { directBody, gatewayBody } from "../exchange/response-bodies.ts";
import { sampleAnswers } from "../exchange/sample-answers.ts";
import { replyBody } from "../exchange/tier-exchange.ts";
import { type CannedReply, toReply } from "./canned-server.ts";

/** The replies of both services to the same questions, by method and path. */
export function cannedReplies(questions: Questions): ReadonlyMap<string, CannedReply> {
  const answers = sampleAnswers(questions);
  const gateway = toReply("200 OK", gatewayBody(answers), "x-vercel-id: fra1::bench-1\r\n");
  const direct = directBody(answers, questions);
  return new Map([
    ["POST /v4/ai/evaluation-model", gateway],
    ["POST /v4/ai/decision-model", gateway],
    ["POST /v4/ai/language-model", toReply("200 OK", replyBody)],
    ["GET /v1/models", toReply("200 OK", { object: "list", data: [] })],
    ["POST /v1/systemone", toReply("200 OK", direct, "x-typesafe-request-id: req_bench1\r\n")],
  ]);
}
