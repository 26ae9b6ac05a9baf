import { z } from "zod";
import type { HttpError } from "../http-error.ts";
import { asksForNothing, invalidField, isObject } from "./parse-body.ts";

/** A value that only an upstream with the client's API takes. */
class Unsupported {
  readonly instead: string;

  constructor(instead: string) {
    this.instead = instead;
  }
}

type Tagged = z.ZodObject<{ type: z.ZodType<string | null | undefined> }>;

/** Reads the options by their `type`, and every other `type` as unsupported. */
export function orUnsupported<const TOptions extends readonly [Tagged, ...Tagged[]]>(
  options: TOptions,
  instead: string,
) {
  const isOther = (type: string) =>
    options.every(({ shape }) => !shape.type.safeParse(type).success);
  const type = z
    .string()
    .refine(isOther, { abort: true })
    .transform(() => new Unsupported(instead));
  return z.union([z.discriminatedUnion("type", options), z.object({ type })]);
}

/** Reads every value as unsupported, except for those that ask for nothing. */
export function unsupported(instead: string) {
  const toUnsupported = (value: unknown) =>
    asksForNothing(value) ? null : new Unsupported(instead);
  return z.unknown().transform(toUnsupported).optional();
}

/** Returns the error (400) of the first unsupported value by its path; null without one. */
export function findUnsupported(value: unknown, path: readonly string[] = []): HttpError | null {
  if (value instanceof Unsupported) {
    const message = `not supported by the model that replies; ${value.instead}`;
    return invalidField({ path: [...path], message });
  }
  if (!isObject(value)) return null;
  for (const [key, inner] of Object.entries(value)) {
    const found = findUnsupported(inner, [...path, key]);
    if (found !== null) return found;
  }
  return null;
}
