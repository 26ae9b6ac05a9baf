import type * as sdk from "../index.ts";

// A program of a user's with test interceptors, one after the other; the packed SDK is tested with
// this file as well, so it imports nothing of ours but the SDK by the name that it is given.
const [specifier = "", interceptorNames = "", order = "", origin = ""] = process.argv.slice(2);
const path = "/v4/ai/evaluation-model";

const answer = {
  answers: { sure: { type: "boolean", probability: 0.25 } },
  rounding: { probabilityDecimals: 2, scoreDecimals: 2 },
  usage: { inputTokens: 3, outputTokens: 1 },
  warnings: ["intercepted"],
  providerMetadata: {},
};

/** Each sets an interceptor up, and returns what takes it away again. */
const interceptors: Record<string, () => Promise<() => void>> = {
  async msw() {
    const { http, HttpResponse } = await import("msw");
    const { setupServer } = await import("msw/node");
    const server = setupServer(http.post(`${origin}${path}`, () => HttpResponse.json(answer)));
    server.listen();
    return () => server.close();
  },
  async MockAgent() {
    const { getGlobalDispatcher, MockAgent, setGlobalDispatcher } = await import("undici");
    const real = getGlobalDispatcher();
    const agent = new MockAgent();
    agent.disableNetConnect();
    setGlobalDispatcher(agent);
    agent.get(origin).intercept({ path, method: "POST" }).reply(200, answer);
    return () => setGlobalDispatcher(real);
  },
  async fetch() {
    const real = globalThis.fetch;
    globalThis.fetch = async () => Response.json(answer);
    return () => (globalThis.fetch = real);
  },
  async nock() {
    const { default: nock } = await import("nock");
    if (!nock.isActive()) nock.activate();
    nock(origin).post(path).reply(200, answer);
    return () => nock.restore();
  },
};

async function ask(): Promise<string> {
  const { boolean, createEvaluator, gatewayTransport } = (await import(specifier)) as typeof sdk;
  const transport = gatewayTransport({ apiKey: "a-real-key", baseUrl: `${origin}/v4/ai` });
  const { warnings } = await createEvaluator({ transport, maxRetries: 0 }).evaluate({
    state: "text",
    questions: { sure: boolean("Sure?") },
  });
  return warnings.join();
}

if (order !== "before the SDK is imported") await import(specifier);
for (const name of interceptorNames.split(",")) {
  const setUp = interceptors[name];
  if (setUp === undefined) throw new Error(`There is no interceptor ${name}.`);
  if (order === "after a first real call") process.stdout.write(`first: ${await ask()}\n`);
  const takeAway = await setUp();
  process.stdout.write(`then: ${await ask()}\n`);
  takeAway();
}
process.exit();
