import type * as z from "zod";
import { ConfigurationError } from "./errors.ts";

/** Throws a `ConfigurationError` that names the first option at fault. */
export function checkOptions(schema: z.ZodType, options: unknown): void {
  const issue = schema.safeParse(options).error?.issues[0];
  if (issue === undefined) return;
  const option = issue.path.map(String).join(".");
  throw new ConfigurationError(`The option "${option}" is wrong: ${issue.message}.`, { option });
}
