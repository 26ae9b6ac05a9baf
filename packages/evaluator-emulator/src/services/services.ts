import type { Call } from "../call.ts";
import { isJsonRecord } from "../json.ts";
import { decisionsForm } from "./decisions-form.ts";
import { errorBodies, type ToError } from "./error-bodies.ts";
import type { Form } from "./form.ts";
import { geminiForm } from "./gemini-form.ts";
// Read in SDKs and third parties' clients on 2026-11-28, never seen live.
import rows from "./table.json" with { type: "json" };
import { readImageList, readImageParts, systemOneForm } from "./systemone-form.ts";

/** A decision service whose own SDK works here by its base URL. */
export interface Service {
  /** An asterisk stands for one segment. */
  readonly paths: readonly string[];
  readonly form: Form;
  readonly toError: ToError;
  /** Pattern of the models that it knows. */
  readonly models: string;
  /** Whether the last segment of the path is the model. @default false */
  readonly hasPathModel?: boolean;
  /** How many questions, and options or levels of each, it takes. */
  readonly limits: Readonly<Record<string, readonly number[]>>;
  /** Top-level fields, if any other is rejected. */
  readonly fields?: readonly string[];
  /** Pattern of ids of questions and options. @default any */
  readonly ids?: string;
  /** @default false */
  readonly needsInstructions?: boolean;
  /** Whether a yes/no question has both descriptions or none. @default false */
  readonly needsBothMeanings?: boolean;
  /** Decimal places of its numbers. @default unrounded */
  readonly decimals?: number;
  /** Pattern of the models whose numbers it rounds. @default all */
  readonly roundedModels?: string;
  /** The response header with the id of the request. @default none */
  readonly requestIdHeader?: string;
  /** Price of an input token, if it bills credits and reports the cost. @default no bill */
  readonly picodollarsPerToken?: number;
  /** Whether its answers are in Cloudflare's envelope. @default false */
  readonly hasEnvelope?: boolean;
  /** Replaces all answers if one question is refused. @default each question is refused by itself */
  readonly refusal?: object;
}

const forms: Readonly<Record<string, Form>> = {
  systemone: systemOneForm(),
  "systemone, images as parts": systemOneForm(readImageParts),
  "systemone, images as a list": systemOneForm(readImageList),
  decisions: decisionsForm,
  gemini: geminiForm,
};

function toService({ form, error, ...row }: (typeof rows)[keyof typeof rows]): Service {
  return { ...row, form: forms[form] as Form, toError: errorBodies[error] as ToError };
}

const { openai, gemini, perplexity, ...others } = rows;
const atDecisions = {
  openai: toService(openai),
  gemini: toService(gemini),
  perplexity: toService(perplexity),
};
const services = [...Object.values(atDecisions), ...Object.values(others).map(toService)];

/** Paths of all services, as patterns of msw. */
export const servicePaths: readonly string[] = services.flatMap(({ paths }) => paths);

const matchers = services.flatMap((service) =>
  service.paths.map((path) => {
    return { pattern: new RegExp(`^${path.replaceAll("*", "[^/]+")}$`), service };
  }),
);

/** Returns the service of a call's address, or null. Three share one path; the header of the key or the body decides. */
export async function serviceAt(call: Call): Promise<Service | null> {
  const service = matchers.find(({ pattern }) => pattern.test(call.path))?.service ?? null;
  if (service !== atDecisions.openai) return service;
  if (call.header("x-goog-api-key") !== null) return atDecisions.gemini;
  return (await hasState(call)) ? atDecisions.perplexity : service;
}

async function hasState(call: Call): Promise<boolean> {
  try {
    const body: unknown = JSON.parse(await call.text());
    return isJsonRecord(body) && Object.hasOwn(body, "state");
  } catch {
    return false;
  }
}
