import { UsageError } from "evaluator-kit";
import { checkFaults, type Fault } from "./fault.ts";

/** The field of a value behind a kind, as in `status=429`. */
const fieldOfKind: Readonly<Record<string, string>> = {
  status: "status",
  html: "status",
  latency: "latencyMs",
};

/** Words of the command line that differ from their field. */
const fieldNames: Readonly<Record<string, string>> = { jitter: "jitterMs" };

/**
 * Reads a fault of the command line, `KIND[=VALUE][,NAME=VALUE]...`.
 *
 * @throws UsageError that names the word that is wrong.
 */
export function parseFault(text: string): Fault {
  const split = text.split(",").map((part) => part.split(/=(.*)/s, 2));
  const [[kind, value], ...parts] = split as [[string, string?], ...[string, string?][]];
  const fields = parts.map(([name, givenText]) => [
    fieldNames[name] ?? toCamelCase(name),
    readValue(name, givenText),
  ]);
  const own = value === undefined ? [] : [[fieldOfKind[kind] ?? "value", readValue(kind, value)]];
  const fault: unknown = { kind, ...Object.fromEntries([...own, ...fields]) };
  try {
    return checkFaults([fault])[0] as Fault;
  } catch (error) {
    const reason = (error as RangeError).message.replace(/^fault 1(?:, |: )/, "");
    throw new UsageError(`--fault ${text}: ${reason}`, { cause: error });
  }
}

function readValue(name: string, value = ""): string | number {
  return name === "path" || value.trim() === "" ? value : Number(value);
}

function toCamelCase(name: string): string {
  return name.replaceAll(/-([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}
