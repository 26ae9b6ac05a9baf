import type { ServerResponse } from "node:http";
import { createCatalog, createEvaluator, gatewayTransport } from "evaluator-client";
import { createEmulator } from "evaluator-emulator";
import { onTestFinished } from "vitest";
import { createApp } from "../create-app.ts";
import { toService } from "../evaluations/evaluation-services.ts";
import { loadPage } from "../page/load-page.ts";
import type { MessageRecord } from "../records/message-record.ts";
import { redactor } from "../reply/redactor.ts";
import { parseRouterOptions } from "../router-options.ts";
import { configureReplies, connectServices, type Services } from "../services/connect-services.ts";
import { startRouter } from "../start-router.ts";
import { keepLogs, keepOutput, keepResponse, keepWire, plantedKey } from "./keep-output.ts";
import {
  decisionFor,
  type Differences,
  gatewayUpstream,
  startUpstream,
  testGateway,
} from "./upstreams.ts";

/** Services that send everything, once for an evaluation, through the given `fetch`. */
export function servicesOver(
  fetch: typeof globalThis.fetch,
  options = parseRouterOptions({}),
): Services {
  const apiKey = plantedKey;
  const baseUrl = "http://gateway.invalid/v4/ai";
  const transport = gatewayTransport({ apiKey, baseUrl, fetch, env: {} });
  const evaluator = createEvaluator({ transport, maxRetries: 0 });
  const service = toService({
    name: "gateway",
    evaluator,
    transport,
    price: 0.042,
    reportsCost: true,
  });
  return {
    evaluator,
    engineAddress: "gateway http://gateway.invalid/v4/ai",
    replies: {
      current: configureReplies(gatewayUpstream({ apiKey, baseUrl, fetch }), options),
      catalogs: [createCatalog({ baseUrl, fetch, env: {} })],
      capabilities: new Map(),
    },
    decisions: { current: { list: [service], models: new Map() } },
    service,
    reconfigure: () => undefined,
    redact: redactor([apiKey]),
    tracing: null,
    decider: "a test",
    replier: "a test",
    notice: "Answers come from a test.",
    isEmulated: false,
    close: async () => {},
  };
}

const page = loadPage({ notice: "Answers come from a test.", isEmulated: false });

/** The policy of a router without settings. */
export const { policy: defaultPolicy } = parseRouterOptions({});

/** The origin a {@link testRouter} answers to. */
const testOrigin = "http://localhost:3000";

type AppParts = Parameters<typeof createApp>[0];
type RouterOptions = AppParts["options"];

/** Parts and options of the application that a test wants different. */
type PartDifferences = Partial<AppParts & RouterOptions>;

/**
 * Returns the application over a {@link testGateway}, with the planted key behind it; an error
 * nobody expected fails the test, and so does the key in anything it prints or sends.
 */
export async function testRouter(differences: Differences = {}, parts: PartDifferences = {}) {
  const { fetch, seen } = testGateway(differences);
  const keep = keepOutput();
  const options = { ...parseRouterOptions({}), ...parts };
  const app = createApp({
    page: await page,
    hosts: new Set(["localhost:3000"]),
    services: servicesOver(fetch, options),
    prices: new Map(),
    options,
    reportDefect: (error) => {
      throw error;
    },
    ...parts,
    ...keepLogs(parts, keep),
  });
  const request = async (path: string, { headers, ...init }: RequestInit = {}) => {
    const own = { host: "localhost:3000", ...(headers as Record<string, string> | undefined) };
    return keepResponse(await app.request(testOrigin + path, { ...init, headers: own }), keep);
  };
  const chat = (body: unknown, init: RequestInit = {}) =>
    request("/chat", {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "content-type": "application/json" },
      ...init,
    });
  return { app, request, chat, seen };
}

/** Services that ask an emulator behind a port, as if it were the gateway. */
export async function servicesOfEmulator() {
  const emulator = createEmulator();
  onTestFinished(() => emulator.close());
  const { gatewayBaseUrl } = await emulator.listen();
  const env = { AI_GATEWAY_API_KEY: plantedKey, EVALUATOR_BASE_URL: gatewayBaseUrl };
  return connectServices(parseRouterOptions(env));
}

/** What a test wants different in a router that listens. */
type RouterDifferences = Partial<Parameters<typeof startRouter>[0]> & {
  readonly env?: Record<string, string>;
  readonly instance?: string;
  readonly aliases?: Map<string, string>;
};

/**
 * Starts a router on a free port over a {@link testGateway} for the length of a test, with the
 * planted key in its environment; it keeps what nobody expected, and all that it prints or sends.
 */
export async function startTestRouter(
  differences: Differences = {},
  { env, instance, aliases, ...parts }: RouterDifferences = {},
) {
  const { fetch, seen } = testGateway(differences);
  const defects: Error[] = [];
  const keep = keepOutput();
  const options = {
    ...parseRouterOptions({ PORT: "0", AI_GATEWAY_API_KEY: plantedKey, ...env }),
    ...(instance !== undefined && { instance }),
    ...(aliases !== undefined && { aliases }),
  };
  const router = await startRouter({
    options,
    services: { ...servicesOver(fetch, options), isEmulated: true },
    prices: new Map(),
    ...parts,
    reportDefect: (error) => {
      keep(error);
      defects.push(error);
    },
    ...keepLogs(parts, keep),
  });
  let closed: Promise<void> | null = null;
  const close = () => (closed ??= router.close());
  onTestFinished(close);
  const { host, port } = new URL(router.origin);
  keepWire(Number(port), keep);
  return { origin: router.origin, host, close, seen, defects, keep };
}

/** The sources of replies: the gateway, or a server with OpenAI's API. */
export const replySources = ["gateway", "own server"] as const;

/** Starts a router whose replies come from the emulator; returns the base URL for OpenAI clients. */
export async function startRouterWith(kind: (typeof replySources)[number]): Promise<string> {
  if (kind === "gateway") return `${(await startTestRouter()).origin}/v1`;
  const emulator = createEmulator({ engine: "openai" });
  onTestFinished(() => emulator.close());
  const server = new URL((await emulator.listen()).directBaseUrl).origin;
  const tiers = ["NANO", "FAST", "BALANCED", "FRONTIER"].map((tier) => [
    `ROUTER_MODEL_${tier}`,
    "local/echo-1",
  ]);
  const env = { ROUTER_REPLY_BASE_URL: server, ...Object.fromEntries(tiers) };
  const services = connectServices(parseRouterOptions(env));
  return `${(await startTestRouter({}, { env, services })).origin}/v1`;
}

/** Answers a reply call by hand, over a real socket. */
export type ReplyScript = (response: ServerResponse) => void;

/**
 * Returns a router in front of a gateway of real sockets, whose reply calls a test answers itself.
 */
export async function scriptedGateway(reply: ReplyScript, env: Record<string, string> = {}) {
  const upstream = await startUpstream((request, response) => {
    request.resume();
    if (request.url?.endsWith("/language-model") === true) reply(response);
    else response.end(JSON.stringify(decisionFor("nano")));
  });
  const settings = {
    AI_GATEWAY_API_KEY: plantedKey,
    EVALUATOR_BASE_URL: `${upstream}/v4/ai`,
    ...env,
  };
  const services = connectServices(parseRouterOptions(settings));
  const records: MessageRecord[] = [];
  const router = await startTestRouter(
    {},
    { env: settings, services, observe: (record) => records.push(record) },
  );
  return { ...router, records };
}
