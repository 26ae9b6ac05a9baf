import { createServer, type RequestListener } from "node:http";
import { closeServer, listen } from "evaluator-kit";
import { createEmulator } from "evaluator-emulator";
import { onTestFinished } from "vitest";
import type { Tier } from "../decision/tier-question.ts";
import { connectUpstream, type UpstreamOptions } from "../reply/upstream.ts";

/** Answers one request in the emulator's place. */
export type Answer = (request: Request) => Response | Promise<Response>;

/** Answers that differ from the emulator's. */
export interface Differences {
  readonly evaluation?: Answer;
  readonly reply?: Answer;
}

/** One request that reached the gateway. */
interface SeenRequest {
  readonly path: string;
  readonly body: unknown;
}

/** Returns the emulator's `fetch`, except for the given answers; and what it was sent. */
export function testGateway({ evaluation, reply }: Differences = {}) {
  const emulator = createEmulator();
  const seen: SeenRequest[] = [];
  const asked: Request[] = []; // the signal of a request that is collected as garbage never aborts
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    asked.push(request);
    const path = new URL(request.url).pathname;
    if (request.method === "GET") return emulator.fetch(request);
    seen.push({ path, body: await request.clone().json() });
    const answer = path.endsWith("/language-model") ? reply : evaluation;
    return answer === undefined ? emulator.fetch(request) : answer(request);
  };
  return { fetch, seen };
}

/** Returns the answer of an evaluation that is certain of a tier. */
export function decisionFor(choice: Tier, differences: object = {}) {
  const none = { nano: 0, fast: 0, balanced: 0, frontier: 0 };
  return {
    answers: { tier: { type: "choice", choice, probabilities: { ...none, [choice]: 1 } } },
    rounding: { probabilityDecimals: 2, scoreDecimals: 2 },
    usage: { inputTokens: 1, outputTokens: 1 },
    warnings: [],
    providerMetadata: {},
    ...differences,
  };
}

/** Starts an HTTP server for the length of a test, and returns its origin. */
export async function startUpstream(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  const { origin } = await listen(server, { port: 0 });
  onTestFinished(() => closeServer(server));
  return origin;
}

/** Returns an upstream that never answers, and says when it is reached and let go. */
export function hangingUpstream() {
  const reached = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const answer: Answer = ({ signal }) => {
    const { promise, reject } = Promise.withResolvers<Response>();
    const end = () => {
      ended.resolve();
      reject(signal.reason);
    };
    if (signal.aborted) end(); // a busy machine is late
    else signal.addEventListener("abort", end);
    reached.resolve();
    return promise;
  };
  return { answer, reached: reached.promise, ended: ended.promise };
}

/** Connects a gateway. */
export function gatewayUpstream(options: Omit<UpstreamOptions, "type" | "name">) {
  const keyVariable = "AI_GATEWAY_API_KEY";
  return connectUpstream({ type: "gateway", name: "gateway", keyVariable, ...options });
}
