import type { Exchange } from "evaluator-fixtures";
import { z } from "zod";

/** Returns the exchange with what a live service answered, and where that comes from. */
export function toRecording(
  exchange: Exchange,
  { response, recordedAt }: { response: Exchange["response"]; recordedAt: Date },
): Omit<Exchange, "name"> {
  const { name, provenance, description, request } = exchange;
  const situation = name.slice(name.lastIndexOf("/") + 1).replaceAll("-", " ");
  return {
    // What is written of the contract's answer is not true of this one.
    description:
      provenance.source === "live" ? description : `What a live service answered to: ${situation}.`,
    provenance: {
      source: "live",
      recordedAt: recordedAt.toISOString().slice(0, "YYYY-MM-DD".length),
      model: modelOf(exchange, response),
    },
    request,
    response,
  };
}

const answeredSchema = z.object({ model: z.string().min(1) }).transform(({ model }) => model);
const routedSchema = z
  .object({
    providerMetadata: z.object({
      gateway: z.object({ routing: z.object({ canonicalSlug: z.string().min(1) }) }),
    }),
  })
  .transform(({ providerMetadata }) => providerMetadata.gateway.routing.canonicalSlug);

/**
 * Returns the model that answered, else the one that was asked for (contract sections 2.5 and 2.6).
 */
function modelOf({ request }: Exchange, { body }: Exchange["response"]): string {
  return (
    answeredSchema.safeParse(body).data ??
    routedSchema.safeParse(body).data ??
    request.headers["ai-model-id"] ??
    answeredSchema.safeParse(request.body).data ??
    "unknown"
  );
}

type Response = Exchange["response"];
type Json = Response["body"];

const serviceId = /\b(gen|req)_[0-9A-Za-z-]{8,}/g;
const idKey =
  /^(?:[\w-]+[-_])?(?:request|generation|trace|session|team|user|account|owner|org|organization|project|api_?key)[-_]?id$/i;

/**
 * Replaces the ids that tie a response to an account's logs by counted ones, such as
 * `gen_recorded0001`; the same id by the same one.
 */
export function scrubResponse({ status, headers, body }: Response): Response {
  const rename = createRenaming();
  const scrubText = (text: string, key: string) =>
    idKey.test(key) ? rename(text) : text.replace(serviceId, rename);
  return {
    status,
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, scrubText(value, name)]),
    ),
    body: scrubValue(body, "", scrubText),
  };
}

function scrubValue(
  value: Json,
  key: string,
  scrubText: (text: string, key: string) => string,
): Json {
  if (typeof value === "string") return scrubText(value, key);
  if (Array.isArray(value)) return value.map((item) => scrubValue(item, key, scrubText));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, scrubValue(item, key, scrubText)]),
  );
}

function createRenaming(): (id: string) => string {
  const names = new Map<string, string>();
  return (id) => {
    const prefix = /^(?:gen|req)_/.exec(id)?.[0] ?? "id_";
    const name = names.get(id) ?? `${prefix}recorded${String(names.size + 1).padStart(4, "0")}`;
    names.set(id, name);
    return name;
  };
}
