import type { Call } from "./call.ts";
import { collectText } from "./collect-text.ts";
import { onceOnly } from "./once-only.ts";

/** A call from a `fetch` request. */
export function fetchCall(request: Request): Call {
  const { pathname, searchParams } = new URL(request.url);
  return {
    method: request.method,
    path: pathname,
    query: searchParams,
    signal: request.signal,
    header: (name) => request.headers.get(name),
    readText: onceOnly(() => readText(request)),
  };
}

async function readText({ body }: Request): Promise<string> {
  const collected = collectText();
  for await (const chunk of body ?? []) collected.add(chunk);
  return collected.text();
}
