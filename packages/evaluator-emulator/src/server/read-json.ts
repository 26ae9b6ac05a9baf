import { isJsonRecord } from "../questions/json-record.ts";
import type { Call } from "./call.ts";
import { UnreadableBody } from "./unreadable-body.ts";

/** Deepest nesting of a body; deeper ones would overflow the stack of whoever walks them. */
const maxDepth = 100;

/**
 * The JSON body of a call.
 *
 * @throws {UnreadableBody} when it is too large, not JSON, or nested too deeply.
 */
export async function readJson(call: Call): Promise<unknown> {
  const body = parseJson(await call.readText());
  if (depthOf(body) <= maxDepth) return body;
  throw new UnreadableBody(`The body is nested deeper than ${maxDepth} levels.`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UnreadableBody("The body is not valid JSON.");
  }
}

function depthOf(body: unknown): number {
  let depth = 0;
  let level: unknown[] = [body];
  while (depth <= maxDepth) {
    const containers = level.filter((value) => Array.isArray(value) || isJsonRecord(value));
    if (containers.length === 0) break;
    depth += 1;
    level = containers.flatMap((container) => Object.values(container));
  }
  return depth;
}
