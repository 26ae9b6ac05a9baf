import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type * as builtClient from "evaluator-client";
import type { KindName, Question, Questions } from "evaluator-client";
import type { Questions as VendorQuestions } from "@typesafe-ai/sdk";
import mail from "evaluator-fixtures/exchanges/gateway/consent-alert-first-of-thread.json" with { type: "json" };
import type { BenchmarkServer } from "./process/start-servers.ts";
import { apiKey, gatewayHeaders as headers, mailState, openPost } from "./sample-requests.ts";

/** The four triage questions (contract section 4.7). */
export const questions = mail.request.body.questions as Questions;

/** The answers as a library gives them, read to the end: question id to answer. */
type GivenAnswers = Readonly<Record<string, object>>;

/** Asks the questions of the triage about a mail. */
type Ask = (state: ReturnType<typeof mailState>) => Promise<GivenAnswers>;

/** The addresses of a target, and the build of this SDK that it uses. */
export interface TargetSetUp {
  readonly addresses: BenchmarkServer["addresses"];
  /** The folder of the built client. */
  readonly clientFolder: string;
}

type Client = Awaited<ReturnType<typeof loadClient>>;

/** Every way to ask that is measured, in the order of the table; `open` loads its library and no other. */
export const targets = {
  undici: { title: "undici `request` + `JSON.parse`", open: openUndiciRequest },
  dispatch: { title: "undici `dispatch`, own handler", open: openUndiciDispatch },
  fetch: { title: "global `fetch`", open: openGlobalFetch },
  "sdk-gateway": { title: "this SDK, gateway, undici", open: openOwn("gateway") },
  "sdk-gateway-fetch": {
    title: "this SDK, gateway, `fetch`",
    open: openOwn("gateway", { fetch: globalThis.fetch }),
  },
  "sdk-direct": { title: "this SDK, direct, undici", open: openOwn("direct") },
  vendor: { title: "vendor's SDK 0.6.0, `systemOne`", open: openVendorSdk },
  ai: { title: "`ai` 7.0.173, `experimental_decide`", open: openAiDecide },
};

/** The name of a target. */
export type TargetName = keyof typeof targets;

/** Sets up a target, and returns a function that asks about the mail of a number and verifies the answers. */
export async function openTarget({ target, ...setUp }: TargetSetUp & { target: TargetName }) {
  const ask = await targets[target].open(setUp);
  return async (number: number) => verifyMailAnswers(await ask(mailState(number)));
}

const expected = Object.entries(mail.response.body.answers).map(([id, answer]) => ({
  id,
  value: decisiveValue(answer),
}));

/** Throws unless the answers are those to a mail; cheap enough for every call: one value of each answer. */
function verifyMailAnswers(answers: GivenAnswers): void {
  for (const { id, value } of expected) {
    if (decisiveValue(answers[id] ?? {}) === value) continue;
    const given = JSON.stringify(answers[id]);
    throw new Error(`Not the answer expected to "${id}": ${given} instead of ${String(value)}.`);
  }
}

function decisiveValue(answer: object): unknown {
  const { choice, score, probability, noul } = answer as Record<string, unknown>;
  return choice ?? score ?? probability ?? noul;
}

/** Opens hand-written undici code, the reference of every ratio. */
async function openUndiciRequest({ addresses }: TargetSetUp): Promise<Ask> {
  const post = await openPost();
  const url = `${addresses.gateway}/evaluation-model`;
  return async (state) => answersIn(await post(url, headers, { state, questions }));
}

/** Opens the floor: undici without the body stream that `request` builds. */
async function openUndiciDispatch({ addresses }: TargetSetUp): Promise<Ask> {
  const { Agent } = await import("undici");
  const agent = new Agent();
  const { origin, pathname } = new URL(`${addresses.gateway}/evaluation-model`);
  return async (state) => {
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
  return async (state) => {
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

/** Opens this SDK with every check on. */
function openOwn(name: "gateway" | "direct", fetching: { fetch?: typeof globalThis.fetch } = {}) {
  return async ({ addresses, clientFolder }: TargetSetUp): Promise<Ask> => {
    const client = await loadClient(clientFolder);
    const access = { apiKey, baseUrl: addresses[name], env: {}, ...fetching };
    const transports = {
      gateway: () => client.gatewayTransport({ ...access, modelId: "typesafe-ai/jev" }),
      direct: () => client.directTransport({ ...access, model: "jev-latest" }),
    };
    // Without the vendor's limits, which would pace it.
    const evaluator = client.createEvaluator({ transport: transports[name](), limits: {} });
    const built = buildQuestions(client);
    return async (state) => (await evaluator.evaluate({ state, questions: built })).answers;
  };
}

/** Builds the questions as a person does, with the client's own builders. */
function buildQuestions(client: Client): Questions {
  const build = (type: KindName) =>
    client[type] as (instructions: Question["instructions"], criteria: unknown) => Question;
  const built = Object.entries(questions).map(([id, { type, instructions, criteria }]) => {
    return [id, build(type)(instructions, criteria)] as const;
  });
  return Object.fromEntries(built);
}

/** The vendor's names of kinds that are not the gateway's. */
const vendorTypes: Readonly<Partial<Record<KindName, string>>> = { boolean: "noul" };

/** Opens the vendor's own SDK on the vendor's own API. */
async function openVendorSdk({ addresses }: TargetSetUp): Promise<Ask> {
  const { TypeSafeClient } = await import("@typesafe-ai/sdk");
  const client = new TypeSafeClient({ apiKey, baseURL: addresses.direct, logLevel: "off" });
  const mapped = Object.entries(questions).map(([id, question]) => {
    return [id, { ...question, type: vendorTypes[question.type] ?? question.type }];
  });
  const own = Object.fromEntries(mapped) as VendorQuestions;
  return async (state) => (await client.systemOne({ state, questions: own })).answers;
}

/** Opens the `ai` package on the gateway, with its own checks. */
async function openAiDecide({ addresses }: TargetSetUp): Promise<Ask> {
  globalThis.AI_SDK_LOG_WARNINGS = false;
  const { createGateway, experimental_decide: decide } = await import("ai");
  const gateway = createGateway({ apiKey, baseURL: addresses.gateway });
  const model = gateway.decisionModel("typesafe-ai/jev");
  return async (state) => (await decide({ model, state, questions })).answers;
}

/** Loads the built client, as a program that installed it does; its types are those of the sources. */
async function loadClient(clientFolder: string): Promise<typeof builtClient> {
  const path = createRequire(join(clientFolder, "package.json")).resolve("evaluator-client");
  return (await import(pathToFileURL(path).href)) as typeof builtClient;
}
