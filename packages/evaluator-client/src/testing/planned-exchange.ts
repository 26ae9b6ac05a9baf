import type { Exchange } from "evaluator-fixtures";
import { privateRequest } from "./private-call.ts";

/** The origin that {@link plannedExchange} answers at; nothing reaches the real network. */
export const plannedOrigin = "https://service.example";

const { state, questions } = JSON.parse(JSON.stringify(privateRequest));
const scam = { ...questions.scam, type: "noul" };
const requests = {
  gateway: { path: "/evaluation-model", body: { state, questions } },
  direct: {
    path: "/v1/systemone",
    body: { model: "jev-latest", state, questions: { ...questions, scam } },
  },
};

/** An exchange that answers the private request, sent by the transport of that name, as planned. */
export function plannedExchange(
  transport: "gateway" | "direct",
  {
    status = 200,
    headers = {},
    body,
  }: { status?: number; headers?: Record<string, string>; body: unknown },
): Exchange {
  const { path, body: asked } = requests[transport];
  return {
    name: `${transport} answers ${status}`,
    description: "planned by a test",
    provenance: { source: "contract", section: "none" },
    request: { method: "POST", path, headers: {}, body: asked },
    response: {
      status,
      headers: { "content-type": "application/json", ...headers },
      body: body as Exchange["response"]["body"],
    },
  };
}
