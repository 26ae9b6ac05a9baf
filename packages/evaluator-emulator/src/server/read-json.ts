import { isJsonRecord } from "../questions/json-record.ts";

/** Largest request body, in bytes. */
const maxBodyBytes = 4 * 1024 * 1024;
/** Deepest nesting of a body; deeper ones would overflow the stack of whoever walks them. */
const maxDepth = 100;

/** A request body that cannot be read; the message never repeats it. */
export class UnreadableBody extends Error {
  override readonly name = "UnreadableBody";
  /** 413 when it is too large, else 400. */
  readonly status: 400 | 413;

  constructor(message: string, status: 400 | 413 = 400) {
    super(message);
    this.status = status;
  }
}

/**
 * The JSON body of a request.
 *
 * @throws {UnreadableBody} when it is too large, not JSON, or nested too deeply.
 */
export async function readJson(request: Request): Promise<unknown> {
  const body = parseJson(await readText(request));
  if (depthOf(body) <= maxDepth) return body;
  throw new UnreadableBody(`The body is nested deeper than ${maxDepth} levels.`);
}

async function readText(request: Request): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > maxBodyBytes) {
      throw new UnreadableBody(`The body is larger than ${maxBodyBytes} bytes.`, 413);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
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
