import type { Call } from "../call.ts";
import { isJsonRecord } from "../json.ts";
import { decisionsForm } from "./decisions-form.ts";
import {
  cloudflareError,
  googleError,
  openAiError,
  openRouterError,
  plainError,
  type ToError,
} from "./error-bodies.ts";
import type { Form } from "./form.ts";
import { geminiForm } from "./gemini-form.ts";
import { readImageList, readImageParts, systemOneForm } from "./systemone-form.ts";

type Range = readonly [least: number, most: number];

/** A decision service whose own SDK works here by its base URL. */
export interface Service {
  readonly form: Form;
  readonly toError: ToError;
  /** The models that it knows. */
  readonly models: RegExp;
  /** The model of a path that names one. @default the body's */
  readonly pathModel?: RegExp;
  /** How many questions, and options or levels of each, it takes. */
  readonly limits: Readonly<{ questions: Range; choice: Range; score: Range }>;
  /** Top-level fields, if any other is rejected. */
  readonly fields?: readonly string[];
  /** Ids of questions and options. @default any */
  readonly ids?: RegExp;
  /** @default false */
  readonly needsInstructions?: boolean;
  /** Whether a yes/no question has both descriptions or none. @default false */
  readonly needsBothMeanings?: boolean;
  /** Decimal places of its numbers; twelve stand for unrounded ones. */
  readonly decimals: number;
  /** The response header with the id of the request. @default none */
  readonly requestIdHeader?: string;
  /** Picodollars for one input token, if it bills credits and reports the cost. @default no bill */
  readonly tokenPrice?: number;
  /** Replaces all answers if one question is refused. @default each question is refused by itself */
  readonly refusal?: object;
  /** Returns the body as the service wraps it. @default the form's */
  toBody?(body: object, id: string): object;
}

const unrounded = 12;

// What each row rests on was read in SDKs and third parties' clients on 2026-11-28, never seen live.

const openai: Service = {
  form: decisionsForm,
  toError: openAiError,
  models: /^gpt-6-luna/,
  limits: { questions: [1, 400], choice: [2, 255], score: [2, 10] },
  fields: [
    "model",
    "input",
    "questions",
    "prompt_cache_key",
    "prompt_cache_options",
    "safety_identifier",
  ],
  decimals: unrounded,
  requestIdHeader: "x-request-id",
};

const gemini: Service = {
  form: geminiForm,
  toError: googleError,
  models: /^(?:models\/)?gemini-decision-/,
  limits: { questions: [1, 1000], choice: [2, 255], score: [2, 255] },
  fields: ["model", "input", "questions"],
  decimals: unrounded,
  refusal: { prompt_feedback: { block_reason: "safety", block_reason_message: "Blocked." } },
};

const openrouter: Service = {
  form: systemOneForm(),
  toError: openRouterError,
  // Bare names of the vendor's models are mapped to it.
  models: /^(?:~?[\w.-]+\/[\w.:-]+|jev-[\w.]+)$/,
  limits: { questions: [1, 400], choice: [1, 255], score: [1, 10] },
  needsInstructions: true,
  needsBothMeanings: true,
  decimals: 2,
  tokenPrice: 42_000,
  toBody: (body, id) => ({ id: `gen-${id}`, provider: "Emulator", ...body }),
};

const perplexity: Service = {
  form: systemOneForm(readImageParts),
  toError: plainError,
  models: /^pplx-decider-/,
  limits: { questions: [1, 128], choice: [1, 255], score: [1, 10] },
  fields: ["model", "state", "questions"],
  decimals: unrounded,
  requestIdHeader: "x-request-id",
};

const cloudflare: Service = {
  form: systemOneForm(readImageList),
  toError: cloudflareError,
  models: /^clef(?:-[\w.]+)*$/,
  pathModel: /[^/]+$/,
  limits: { questions: [1, 64], choice: [2, 255], score: [2, 10] },
  ids: /^[A-Za-z0-9_.-]{1,100}$/,
  needsInstructions: true,
  decimals: 4,
  requestIdHeader: "cf-ray",
  toBody: (result) => ({ result, success: true, errors: [], messages: [] }),
};

const fireworks: Service = {
  form: systemOneForm(),
  toError: plainError,
  models: /./,
  limits: { questions: [1, 400], choice: [1, 208], score: [1, 10] },
  decimals: unrounded,
  requestIdHeader: "x-request-id",
};

/** An asterisk stands for one segment. */
const byPath: Readonly<Record<string, Service>> = {
  "/v1/decisions": openai,
  "/v1beta/decisions": gemini,
  "/api/alpha/decisions": openrouter,
  "/api/v1/systemone": openrouter,
  "/systemone": openrouter,
  "/client/v4/accounts/*/ai/run/@cf/cloudflare/*": cloudflare,
  "/inference/v1/systemone": fireworks,
  "/inference/v1/decisions": { ...fireworks, form: decisionsForm },
};

/** Paths of all services, as patterns of msw. */
export const servicePaths: readonly string[] = Object.keys(byPath);

const matchers = Object.entries(byPath).map(([path, service]) => {
  return { pattern: new RegExp(`^${path.replaceAll("*", "[^/]+")}$`), service };
});

/** Returns the service of a call's address, or null. Three share one path; the header of the key or the body decides. */
export async function serviceAt(call: Call): Promise<Service | null> {
  const service = matchers.find(({ pattern }) => pattern.test(call.path))?.service ?? null;
  if (service !== openai) return service;
  if (call.header("x-goog-api-key") !== null) return gemini;
  return (await hasState(call)) ? perplexity : openai;
}

async function hasState(call: Call): Promise<boolean> {
  try {
    const body: unknown = JSON.parse(await call.text());
    return isJsonRecord(body) && Object.hasOwn(body, "state");
  } catch {
    return false;
  }
}
