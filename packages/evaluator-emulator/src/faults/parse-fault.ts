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
export function parseFault(faultText: string): Fault {
  const split = faultText.split(",").map((faultPart) => faultPart.split(/=(.*)/s, 2));
  const [[kind, value], ...parts] = split as [[string, string?], ...[string, string?][]];
  const fields = parts.map(([fieldName, givenText]) => [
    fieldNames[fieldName] ?? toCamelCase(fieldName),
    readValue(fieldName, givenText),
  ]);
  const own = value === undefined ? [] : [[fieldOfKind[kind] ?? "value", readValue(kind, value)]];
  const fault: unknown = { kind, ...Object.fromEntries([...own, ...fields]) };
  try {
    return checkFaults([fault])[0] as Fault;
  } catch (error) {
    const reason = (error as RangeError).message.replace(/^fault 1(?:, |: )/, "");
    throw new UsageError(`--fault ${faultText}: ${reason}`, { cause: error });
  }
}

function readValue(fieldName: string, value = ""): string | number {
  return fieldName === "path" || value.trim() === "" ? value : Number(value);
}

function toCamelCase(fieldName: string): string {
  return fieldName.replaceAll(/-([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}
