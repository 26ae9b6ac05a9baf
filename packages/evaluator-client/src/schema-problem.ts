import type * as z from "zod/mini";

const things: Readonly<Record<string, string>> = {
  array: "a list",
  boolean: "true or false",
  function: "a function",
  int: "a whole number",
  number: "a number",
  object: "an object",
  record: "an object",
  string: "text",
};

/** Returns the next step for a wrong value. A schema's own message wins, and other problems stay in the validator's words. */
export const schemaProblem: z.core.$ZodErrorMap = (issue) => {
  const thing = issue.code === "invalid_type" ? things[issue.expected] : undefined;
  if (thing !== undefined) return `use ${thing}`;
  if (issue.code === "too_small") {
    return `use ${issue.inclusive === false ? "more than" : "at least"} ${issue.minimum}`;
  }
  if (issue.code === "too_big") {
    return `use ${issue.inclusive === false ? "less than" : "at most"} ${issue.maximum}`;
  }
  if (issue.code !== "unrecognized_keys") return undefined;
  return `leave out ${issue.keys.map((name) => JSON.stringify(name)).join(", ")}`;
};
