import type * as sdk from "../index.ts";

// A program of a user's with a test interceptor; the packed SDK is tested with this file as well,
// so it imports nothing of ours but the SDK by the name that it is given.
const [specifier = "", interceptor = "", order = "", origin = ""] = process.argv.slice(2);
const path = "/v4/ai/evaluation-model";

const answer = {
  answers: { sure: { type: "boolean", probability: 0.25 } },
  rounding: { probabilityDecimals: 2, scoreDecimals: 2 },
  usage: { inputTokens: 3, outputTokens: 1 },
  warnings: ["intercepted"],
  providerMetadata: {},
};

const interceptors: Record<string, () => Promise<void>> = {
  async msw() {
    const { http, HttpResponse } = await import("msw");
    const { setupServer } = await import("msw/node");
    setupServer(http.post(`${origin}${path}`, () => HttpResponse.json(answer))).listen();
  },
  async MockAgent() {
    const { MockAgent, setGlobalDispatcher } = await import("undici");
    const agent = new MockAgent();
    agent.disableNetConnect();
    setGlobalDispatcher(agent);
    agent.get(origin).intercept({ path, method: "POST" }).reply(200, answer);
  },
  async fetch() {
    globalThis.fetch = async () => Response.json(answer);
  },
  async nock() {
    const { default: nock } = await import("nock");
    nock(origin).post(path).reply(200, answer);
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

const setUp = interceptors[interceptor];
if (setUp === undefined) throw new Error(`There is no interceptor ${interceptor}.`);
if (order === "before the SDK is imported") await setUp();
await import(specifier);
if (order === "after a first real call") process.stdout.write(`first: ${await ask()}\n`);
if (order !== "before the SDK is imported") await setUp();
process.stdout.write(`then: ${await ask()}\n`);
process.exit();
