import { checkFaults } from "./check-faults.ts";
import type { Fault } from "./fault.ts";

/** What the value right behind a kind means, as in `status=429`. */
const fieldOfKind: Readonly<Record<string, string>> = {
  status: "status",
  html: "status",
  latency: "latencyMs",
};

/**
 * Reads a fault from the command line: `KIND[=VALUE][,retry-after=S][,next=N][,rate=R][,path=P]`.
 *
 * @throws {Error} names what is wrong with it.
 */
export function parseFault(text: string): Fault {
  const [[kind, value], ...parts] = splitParts(text);
  const fields = parts.map(([name, value]) => [toCamelCase(name), readValue(name, value)]);
  const own = value === undefined ? [] : [[fieldOfKind[kind] ?? "value", readValue(kind, value)]];
  try {
    const [fault] = checkFaults([{ kind, ...Object.fromEntries([...own, ...fields]) }]);
    if (fault !== undefined) return fault;
  } catch (error) {
    throw new Error(`--fault ${text}: ${reasonOf(error)}`, { cause: error });
  }
  throw new Error(`--fault ${text}: expected a fault`);
}

function splitParts(text: string): [[string, string?], ...[string, string?][]] {
  const [kind = [""], ...parts] = text.split(",").map((part) => part.split(/=(.*)/s, 2));
  return [kind, ...parts] as [[string, string?], ...[string, string?][]];
}

function readValue(name: string, value = ""): string | number {
  return name === "path" || value.trim() === "" ? value : Number(value);
}

function toCamelCase(name: string): string {
  return name.replaceAll(/-([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.replace(/^fault 1(?:, |: )/, "") : "is not a fault";
}
