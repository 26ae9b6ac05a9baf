import type { EvaluatorOptions, Question, Questions } from "evaluator-client";
import type { Questions as VendorQuestions } from "@typesafe-ai/sdk";
import { loadClient } from "../client-build.ts";
import type { ServiceAddresses } from "../process/start-servers.ts";
import { apiKey, gatewayHeaders as headers, type MailState } from "../sample-requests.ts";

/** The answers as a library gives them, read to the end: question id to answer. */
export type GivenAnswers = Readonly<Record<string, object>>;

/** Sends one request and gives its answers. */
type Ask = (request: { state: MailState; questions: Questions }) => Promise<GivenAnswers>;

/** The addresses of a target, and the build of this SDK that it uses. */
export interface TargetSetUp {
  readonly addresses: ServiceAddresses;
  /** The folder of the built client. */
  readonly clientFolder: string;
}

/** A row of the table. */
export interface TargetDescription {
  readonly title: string;
  /** Loads the target's library, and no other. */
  readonly open: (setUp: TargetSetUp) => Promise<Ask>;
  /** Whether it measures this SDK. */
  readonly isOwn?: true;
}

type Client = Awaited<ReturnType<typeof loadClient>>;
type Fetching = { fetch?: typeof globalThis.fetch };

/** Every way to ask that is measured, in the order of the table. */
export const targets = {
  undici: { title: "undici `request` + `JSON.parse`", open: openUndiciRequest },
  dispatch: { title: "undici `dispatch`, own handler", open: openUndiciDispatch },
  fetch: { title: "global `fetch`", open: openGlobalFetch },
  "sdk-gateway": { title: "this SDK, gateway, undici", open: openOwn(gateway()), isOwn: true },
  "sdk-gateway-new-questions": {
    title: "this SDK, gateway, undici, questions built for each call",
    open: openOwn(gateway(), { areQuestionsKept: false }),
    isOwn: true,
  },
  "sdk-gateway-fetch": {
    title: "this SDK, gateway, `fetch`",
    open: openOwn(gateway({ fetch: globalThis.fetch })),
    isOwn: true,
  },
  "sdk-direct": { title: "this SDK, direct, undici", open: openOwn(direct()), isOwn: true },
  "sdk-direct-fetch": {
    title: "this SDK, direct, `fetch`",
    open: openOwn(direct({ fetch: globalThis.fetch })),
    isOwn: true,
  },
  vendor: { title: "vendor's SDK 0.6.0, `systemOne`", open: openVendorSdk },
  ai: { title: "`ai` 7.0.173, `experimental_decide`", open: openAiDecide },
} as const satisfies Record<string, TargetDescription>;

/** The name of a target. */
export type TargetName = keyof typeof targets;

/** All names, in the order of the table. */
export const targetNames = Object.keys(targets) as readonly TargetName[];

/** What every other target is compared with: the raw call, and this SDK as most people use it. */
export const references = { raw: "undici", sdk: "sdk-gateway" } as const satisfies Record<
  string,
  TargetName
>;

/** Opens hand-written undici code, the reference of every ratio. */
async function openUndiciRequest({ addresses }: TargetSetUp): Promise<Ask> {
  const { request } = await import("undici");
  const url = `${addresses.gateway}/evaluation-model`;
  return async ({ state, questions }) => {
    const sent = JSON.stringify({ state, questions });
    const { statusCode, body } = await request(url, { method: "POST", headers, body: sent });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`Status ${statusCode}: ${text}`);
    return answersIn(JSON.parse(text));
  };
}

/** Opens the floor: undici without the body stream that `request` builds. */
async function openUndiciDispatch({ addresses }: TargetSetUp): Promise<Ask> {
  const { Agent } = await import("undici");
  const agent = new Agent();
  const { origin, pathname } = new URL(`${addresses.gateway}/evaluation-model`);
  return async ({ state, questions }) => {
    const body = JSON.stringify({ state, questions });
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const chunks: Buffer[] = [];
    let statusCode = 0;
    agent.dispatch(
      { origin, path: pathname, method: "POST", headers, body },
      {
        onRequestStart() {},
        onResponseStart(_controller, status) {
          statusCode = status;
        },
        onResponseData(_controller, chunk) {
          chunks.push(chunk);
        },
        onResponseEnd() {
          const [only] = chunks;
          resolve((chunks.length === 1 && only ? only : Buffer.concat(chunks)).toString());
        },
        onResponseError(_controller, error) {
          reject(error);
        },
      },
    );
    const text = await promise;
    if (statusCode !== 200) throw new Error(`Status ${statusCode}: ${text}`);
    return answersIn(JSON.parse(text));
  };
}

/** Opens Node's own `fetch`, as one writes it by hand. */
async function openGlobalFetch({ addresses }: TargetSetUp): Promise<Ask> {
  const url = `${addresses.gateway}/evaluation-model`;
  return async ({ state, questions }) => {
    const body = JSON.stringify({ state, questions });
    const response = await fetch(url, { method: "POST", headers, body });
    if (!response.ok) throw new Error(`Status ${response.status}: ${await response.text()}`);
    return answersIn(await response.json());
  };
}

/** Returns the answers of a response body without checks. */
function answersIn(body: unknown): GivenAnswers {
  return (body as { answers: GivenAnswers }).answers;
}

/** The options of this SDK's client as a person sets it up, with every check on. */
type OwnOptions = (client: Client, addresses: ServiceAddresses) => EvaluatorOptions;

function gateway(fetching: Fetching = {}): OwnOptions {
  const access = { apiKey, modelId: "typesafe-ai/jev", env: {}, ...fetching };
  return (client, { gateway: baseUrl }) => ({
    transport: client.gatewayTransport({ ...access, baseUrl }),
  });
}

/** The vendor's own API; without the vendor's limits, which would pace it. */
function direct(fetching: Fetching = {}): OwnOptions {
  const access = { apiKey, model: "jev-latest", env: {}, ...fetching };
  return (client, { direct: baseUrl }) => ({
    transport: client.directTransport({ ...access, baseUrl }),
    limits: {},
  });
}

/** Opens this SDK; if `areQuestionsKept`, the same questions are built once, as a person does. */
function openOwn(options: OwnOptions, { areQuestionsKept = true } = {}) {
  return async ({ addresses, clientFolder }: TargetSetUp): Promise<Ask> => {
    const client = await loadClient(clientFolder);
    const evaluator = client.createEvaluator(options(client, addresses));
    const known = new Map<Questions, Questions>();
    return async ({ state, questions: given }) => {
      const questions = known.get(given) ?? buildAll(client, given);
      if (areQuestionsKept) known.set(given, questions);
      return (await evaluator.evaluate({ state, questions })).answers;
    };
  };
}

/** Builds questions as a person does, with the client's own builders. */
function buildAll(client: Client, questions: Questions): Questions {
  const entries = Object.entries(questions);
  return Object.fromEntries(entries.map(([id, question]) => [id, build(client, question)]));
}

function build({ choice, score, boolean }: Client, question: Question): Question {
  const { type, instructions } = question;
  if (type === "choice") return choice(instructions, question.criteria);
  return type === "score" ? score(instructions, question.criteria) : boolean(instructions);
}

/** Opens the vendor's own SDK on the vendor's own API. */
async function openVendorSdk({ addresses }: TargetSetUp): Promise<Ask> {
  const { TypeSafeClient } = await import("@typesafe-ai/sdk");
  const client = new TypeSafeClient({ apiKey, baseURL: addresses.direct, logLevel: "off" });
  const known = new Map<Questions, VendorQuestions>();
  return async ({ state, questions }) => {
    const mapped = known.get(questions) ?? toVendorQuestions(questions);
    known.set(questions, mapped);
    return (await client.systemOne({ state, questions: mapped })).answers;
  };
}

/** The same questions in the vendor's words; done once, so that it costs the vendor's SDK nothing. */
function toVendorQuestions(questions: Questions): VendorQuestions {
  const entries = Object.entries(questions);
  const mapped = entries.map(([id, question]) => [id, toVendorQuestion(question)]);
  return Object.fromEntries(mapped) as VendorQuestions;
}

function toVendorQuestion(question: Question) {
  return question.type === "boolean" ? { ...question, type: "noul" as const } : question;
}

/** Opens the `ai` package on the gateway, with its own checks. */
async function openAiDecide({ addresses }: TargetSetUp): Promise<Ask> {
  globalThis.AI_SDK_LOG_WARNINGS = false;
  const { createGateway, experimental_decide: decide } = await import("ai");
  const gateway = createGateway({ apiKey, baseURL: addresses.gateway });
  const model = gateway.decisionModel("typesafe-ai/jev");
  return async (request) => (await decide({ model, ...request })).answers;
}
