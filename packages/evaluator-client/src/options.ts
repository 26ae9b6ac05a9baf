import { en } from "zod/locales";
import * as z from "zod/mini";
import { ConfigurationError } from "./errors.ts";
import { schemaProblem } from "./schema-problem.ts";
import { priceProblem } from "./token-price.ts";

// Without a language zod/mini reports only "Invalid input". A language that the program set is kept.
if (z.config().localeError === undefined) z.config(en());

/** Options with their defaults: each is given, and none is undefined. */
export type Defined<TOptions> = {
  [TKey in keyof TOptions]-?: Exclude<TOptions[TKey], undefined>;
};

/** Returns a schema of options. An unknown one is an issue that names the nearest. */
export function optionsObject<const TShape extends Readonly<Record<string, z.core.$ZodType>>>(
  shape: TShape,
) {
  return z.strictObject(shape, {
    error: ({ code, keys }) =>
      code === "unrecognized_keys" ? whatIsKnown(keys[0] as string, Object.keys(shape)) : undefined,
  });
}

/** Returns a schema of options whose values are checked elsewhere. */
export function optionsNamed(...names: readonly string[]) {
  return (schemasOfNames[names.join()] ??= optionsObject(
    Object.fromEntries(names.map((name) => [name, z.optional(z.unknown())])),
  ));
}

// Made once: zod compiles each schema for its first use,
// three quarters of what making an evaluator takes.
const schemasOfNames: Record<string, z.core.$ZodType> = {};

/** Throws a `ConfigurationError` that names the first option at fault. */
export function checkOptions(schema: z.core.$ZodType, options: unknown): void {
  const issue = z.safeParse(schema, options, { error: schemaProblem }).error?.issues[0];
  if (issue === undefined) return;
  const unknown = issue.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
  const option = [...issue.path, ...unknown].map(String).join(".");
  const where =
    option === "" ? "The options are" : `The option ${JSON.stringify(option.slice(0, 60))} is`;
  const problem = unknown.length > 0 ? "unknown" : "wrong";
  throw new ConfigurationError(`${where} ${problem}: ${issue.message}.`, { option });
}

/** Throws a `ConfigurationError` for an option that no schema checks; `what` is the predicate of its message. */
export function rejectOption(
  option: string,
  what: string,
  environmentVariable: string | null = null,
): never {
  const variable = environmentVariable === null ? "" : ` (${environmentVariable})`;
  const message = `The option "${option}"${variable} ${what}.`;
  throw new ConfigurationError(message, { option, environmentVariable });
}

/** Throws a `ConfigurationError` for the value of an environment variable; `what` is the predicate of its message. */
export function rejectVariable(environmentVariable: string, option: string, what: string): never {
  const message = `${environmentVariable} ${what}.`;
  throw new ConfigurationError(message, { option, environmentVariable });
}

/** Throws a `ConfigurationError` unless an option is one of these names. */
export function checkName(option: string, name: string, names: readonly string[]): void {
  if (!names.includes(name)) rejectOption(option, `is none of ${names.join(", ")}`);
}

/** Returns the error for the use of a closed object. */
export function closedError(object: string, option: string): ConfigurationError {
  return new ConfigurationError(`The ${object} is closed; make another one.`, { option });
}

/** Names the nearest options by the letter pairs that they share (Dice's coefficient), else all. */
function whatIsKnown(optionName: string, names: readonly string[]): string {
  if (/^api_?key$/i.test(optionName) && !names.includes("apiKey")) {
    return "the key belongs to the transport, as in gatewayTransport({ apiKey }), or into AI_GATEWAY_API_KEY";
  }
  const pairs = letterPairs(optionName.slice(0, 60));
  const likeness = (name: string) => {
    // No letters lead from a timeout to the limit of the whole call.
    if (name === "deadlineMs" && /timeout/i.test(optionName)) return 0.5;
    const own = letterPairs(name);
    return (2 * pairs.filter((pair) => own.includes(pair)).length) / (pairs.length + own.length);
  };
  const near = names.filter((name) => likeness(name) >= 0.5);
  if (near.length === 0) return `the options are ${quoted(names).join(", ")}`;
  const nearest = near.toSorted((one, other) => likeness(other) - likeness(one)).slice(0, 2);
  return `use ${quoted(nearest).join(" or ")}`;
}

function letterPairs(name: string): string[] {
  const pairAt = (_: unknown, index: number) => name.slice(index, index + 2).toLowerCase();
  return Array.from({ length: Math.max(0, name.length - 1) }, pairAt);
}

function quoted(names: readonly string[]): string[] {
  return names.map((name) => `"${name}"`);
}

/** Returns a schema of an object with these methods; `what` is the message for another value. */
export function objectWith(what: string, ...methods: readonly string[]) {
  return z.custom((value) => {
    if (typeof value !== "object" || value === null) return false;
    return methods.every((name) => typeof Reflect.get(value, name) === "function");
  }, what);
}

/** Throws a `ConfigurationError` for an option that is no price of a million tokens in US dollars. */
export function checkPrice(option: string, usd: unknown): void {
  const problem = priceProblem(usd);
  if (problem !== null) rejectOption(option, problem);
}
