import * as z from "zod/mini";
import type { Exchange } from "./exchange.ts";

/** Marks an answer of the emulator, which is no live service. */
export const emulatorHeader = "x-evaluator-emulator";

const keptHeaders = [
  "content-type",
  "retry-after",
  "retry-after-ms",
  "x-should-retry",
  "x-request-id",
  "x-typesafe-request-id",
  emulatorHeader,
];

/** Returns the response headers that clients act on. */
export function keepHeaders(headers: Headers): Record<string, string> {
  return Object.fromEntries(
    keptHeaders.flatMap((name) => {
      const value = headers.get(name);
      return value === null ? [] : [[name, value]];
    }),
  );
}

const someText = z.string().check(z.minLength(1));
const answeredSchema = z.object({ model: someText });
const routedSchema = z.object({
  providerMetadata: z.object({
    gateway: z.object({ routing: z.object({ canonicalSlug: someText }) }),
  }),
});

/** Returns the model that answered, else the requested one (contract sections 2.5 and 2.6). */
export function modelOf(
  request: Pick<Exchange["request"], "headers" | "body">,
  { body }: Exchange["response"],
): string {
  return (
    answeredSchema.safeParse(body).data?.model ??
    routedSchema.safeParse(body).data?.providerMetadata.gateway.routing.canonicalSlug ??
    request.headers["ai-model-id"] ??
    answeredSchema.safeParse(request.body).data?.model ??
    "unknown"
  );
}

type Json = Exchange["response"]["body"];

const serviceId = /\b(gen|req)_[0-9A-Za-z-]{8,}/g;
const idKey =
  /^(?:[\w-]+[-_])?(?:request|generation|trace|session|team|user|account|owner|org|organization|project|api_?key)[-_]?id$/i;

/** Numbers the ids that link a response to an account's logs: `gen_recorded0001`. Answers stay unchanged. */
export function scrubResponse({
  status,
  headers,
  body,
}: Exchange["response"]): Exchange["response"] {
  const rename = createRenaming();
  const scrubText = (text: string, key: string) =>
    idKey.test(key) ? rename(text) : text.replace(serviceId, rename);
  return {
    status,
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, scrubText(value, name)]),
    ),
    body: scrubBody(body, scrubText),
  };
}

type ScrubText = (text: string, key: string) => string;

function scrubBody(body: Json, scrubText: ScrubText): Json {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    return scrubValue(body, "", scrubText);
  }
  const entries = Object.entries(body).map(([key, value]): [string, Json] => {
    if (key === "answers") return [key, value];
    // The id of a chat's answer.
    const isId = key === "id" && typeof value === "string";
    return [key, isId ? scrubText(value, "request-id") : scrubValue(value, key, scrubText)];
  });
  return Object.fromEntries(entries);
}

function scrubValue(value: Json, key: string, scrubText: ScrubText): Json {
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
