import { createEmulator } from "evaluator-emulator";

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

/** The emulator's `fetch`, except for the given answers; and what it was sent. */
export function testGateway({ evaluation, reply }: Differences = {}) {
  const emulator = createEmulator();
  const seen: SeenRequest[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const path = new URL(request.url).pathname;
    if (request.method === "GET") return emulator.fetch(request);
    seen.push({ path, body: await request.clone().json() });
    const answer = path.endsWith("/language-model") ? reply : evaluation;
    return answer === undefined ? emulator.fetch(request) : answer(request);
  };
  return { fetch, seen };
}
