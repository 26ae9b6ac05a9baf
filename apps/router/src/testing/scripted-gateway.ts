import type { ServerResponse } from "node:http";
import { parseRouterOptions } from "../options/router-options.ts";
import { connectServices } from "../services/connect-services.ts";
import type { MessageRecord } from "../records/message-record.ts";
import { plantedKey } from "./planted-key.ts";
import { startTestRouter } from "./start-test-router.ts";
import { startUpstream } from "./start-upstream.ts";

const decision = {
  answers: {
    tier: {
      type: "choice",
      choice: "nano",
      probabilities: { nano: 1, fast: 0, balanced: 0, frontier: 0 },
    },
  },
  rounding: { probabilityDecimals: 2, scoreDecimals: 2 },
  usage: { inputTokens: 1, outputTokens: 1 },
  warnings: [],
  providerMetadata: {},
};

/** Answers a reply call by hand, over a real socket. */
export type ReplyScript = (response: ServerResponse) => void;

/** A router in front of a gateway of real sockets, whose reply calls a test answers itself. */
export async function scriptedGateway(reply: ReplyScript, env: Record<string, string> = {}) {
  const upstream = await startUpstream((request, response) => {
    request.resume();
    if (request.url?.endsWith("/language-model") === true) reply(response);
    else response.end(JSON.stringify(decision));
  });
  const settings = {
    AI_GATEWAY_API_KEY: plantedKey,
    EVALUATOR_BASE_URL: `${upstream}/v4/ai`,
    ...env,
  };
  const services = connectServices(parseRouterOptions(settings).gateway);
  const records: MessageRecord[] = [];
  const router = await startTestRouter(
    {},
    { env: settings, services, observe: (record) => records.push(record) },
  );
  return { ...router, records };
}

/** One event of a streamed reply. */
export function eventOf(part: object): string {
  return `data: ${JSON.stringify(part)}\n\n`;
}

/** One piece of a streamed reply's text. */
export function deltaOf(delta: string): string {
  return eventOf({ type: "text-delta", id: "0", delta });
}

/** Begins a streamed reply. */
export function beginStream(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(eventOf({ type: "text-start", id: "0" }));
}
