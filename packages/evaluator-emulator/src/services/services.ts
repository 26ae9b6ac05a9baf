import type { Call } from "../call.ts";
import { isJsonRecord } from "../json.ts";
import { decisionsForm } from "./decisions-form.ts";
import { errorBodies, type ToError } from "./error-bodies.ts";
import type { Form } from "./form.ts";
import { geminiForm } from "./gemini-form.ts";
// Read in SDKs and third parties' clients on 2026-11-28, never seen live.
import rows from "./table.json" with { type: "json" };
import { readImageList, readImageParts, systemOneForm } from "./systemone-form.ts";

/**
 * A decision service whose own SDK works here by its base URL. A row has patterns of its models, of those
 * whose numbers it rounds and of its ids, the least and most questions, options and levels, and the
 * top-level fields if it rejects others. Numbers without `decimals` are not rounded; a `refusal`
 * replaces all answers if one question is refused.
 */
export type Service = Omit<Row, "form" | "error"> & {
  readonly form: Form;
  readonly toError: ToError;
};

type Row = (typeof rows)[number];

const forms: Readonly<Record<string, Form>> = {
  systemone: systemOneForm(),
  "systemone, images as parts": systemOneForm(readImageParts),
  "systemone, images as a list": systemOneForm(readImageList),
  decisions: decisionsForm,
  gemini: geminiForm,
};

const errors: Readonly<Record<string, ToError>> = errorBodies;
const services = rows.map(({ form, error, ...row }) => {
  const behaviour = { form: forms[form] as Form, toError: errors[error] as ToError };
  return Object.assign(row, behaviour) satisfies Service;
});

/** Paths of all services, as patterns of msw. */
export const servicePaths: readonly string[] = services.flatMap(({ paths }) => paths);

const matchers = services.flatMap((service) =>
  service.paths.map((requestPath) => {
    return { pattern: new RegExp(`^${requestPath.replaceAll("*", "[^/]+")}$`), service };
  }),
);

/** Returns the service of a call's address, or null. Three share one path; the header of the key or the body decides. */
export async function serviceAt(emulatedCall: Call): Promise<Service | null> {
  const service = matchers.find(({ pattern }) => pattern.test(emulatedCall.path))?.service ?? null;
  if (emulatedCall.path !== "/v1/decisions") return service;
  if (emulatedCall.header("x-goog-api-key") !== null) return named("gemini");
  return named((await hasState(emulatedCall)) ? "perplexity" : "openai");
}

function named(name: string): Service | null {
  return services.find((service) => service.name === name) ?? null;
}

async function hasState(emulatedCall: Call): Promise<boolean> {
  try {
    const requestBody: unknown = JSON.parse(await emulatedCall.text());
    return isJsonRecord(requestBody) && Object.hasOwn(requestBody, "state");
  } catch {
    return false;
  }
}
