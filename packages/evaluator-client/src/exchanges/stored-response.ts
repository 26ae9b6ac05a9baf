import { isRecord, textAt } from "../questions/json.ts";
import { type Exchange, mapTexts } from "./exchange.ts";

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
  const kept = keptHeaders.filter((name) => headers.has(name));
  return Object.fromEntries(kept.map((name) => [name, headers.get(name) ?? ""]));
}

/** Returns the model that answered, else the requested one (contract sections 2.5 and 2.6). */
export function modelOf(
  request: Pick<Exchange["request"], "headers" | "body">,
  { body }: Exchange["response"],
): string {
  return (
    textAt(body, "model") ||
    textAt(body, "providerMetadata", "gateway", "routing", "canonicalSlug") ||
    request.headers["ai-model-id"] ||
    textAt(request.body, "model") ||
    "unknown"
  );
}

const serviceId = /\b(gen|req)_[0-9A-Za-z-]{8,}/g;
const idKey =
  /^(?:[\w-]+[-_])?(?:request|generation|trace|session|team|user|account|owner|org|organization|project|api_?key)[-_]?id$/i;

/** Numbers the ids that link a response to an account's logs: `gen_recorded0001`. Answers stay unchanged. */
export function scrubResponse({
  status,
  headers,
  body,
}: Exchange["response"]): Exchange["response"] {
  const names = new Map<string, string>();
  const rename = (id: string) => {
    const prefix = /^(?:gen|req)_/.exec(id)?.[0] ?? "id_";
    const name = names.get(id) ?? `${prefix}recorded${String(names.size + 1).padStart(4, "0")}`;
    names.set(id, name);
    return name;
  };
  const scrubText = (text: string, key: string) =>
    idKey.test(key) ? rename(text) : text.replace(serviceId, rename);
  const scrubField = ([key, value]: [string, unknown]) => {
    if (key === "answers") return [key, value];
    // The id of a chat's answer.
    if (key === "id" && typeof value === "string") return [key, rename(value)];
    return [key, mapTexts(value, scrubText, key)];
  };
  return {
    status,
    headers: mapTexts(headers, scrubText) as Record<string, string>,
    body: isRecord(body)
      ? Object.fromEntries(Object.entries(body).map(scrubField))
      : (mapTexts(body, scrubText) as Exchange["response"]["body"]),
  };
}
