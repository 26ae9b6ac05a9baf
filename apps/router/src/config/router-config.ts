import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import {
  CliError,
  describeSystemError,
  type Environment,
  printable,
  systemErrorCode,
  trimEnvironment,
} from "evaluator-kit";
import { z } from "zod";
import { configSchema } from "./config-schema.ts";

/** The services that reply, and the plans of the tiers, as a file configures them. */
export type RouterConfig = ReturnType<typeof parseRouterConfig>;

/**
 * Reads the file of `ROUTER_CONFIG`, or `router.config.json` in the working directory; null if there is
 * no such file. @throws CliError with the file and the path of a wrong field, without any key.
 */
export async function readRouterConfig(
  given: Environment,
  cwd: string,
): Promise<RouterConfig | null> {
  const env = trimEnvironment(given);
  const named = env["ROUTER_CONFIG"];
  const file = named ?? "router.config.json";
  try {
    return parseRouterConfig(await readFile(resolve(cwd, file), "utf8"), file, env);
  } catch (error) {
    const reason = describeSystemError(error);
    if (reason === null) throw error;
    if (named === undefined && systemErrorCode(error) === "ENOENT") return null;
    throw toError(file, `the file cannot be read: ${reason}`);
  }
}

function parseRouterConfig(text: string, file: string, env: Environment) {
  const json = parseJson(text, file) as { upstreams?: object } | null;
  const names = Object.keys(Object(json?.upstreams));
  const { data, error } = configSchema(names, env).safeParse(json);
  if (error !== undefined) throw toError(file, describeIssue(error));
  return {
    upstreams: new Map(Object.entries(data.upstreams)),
    keys: Object.values(data.upstreams).flatMap(({ apiKey }) => apiKey ?? []),
    /** Plans that name their upstreams; absent tiers and limits are those of the variables. */
    tiers: data.tiers,
    /** Further model names, each with its meaning: `auto`, a tier or a model. */
    aliases: new Map(Object.entries(data.aliases)),
  };
}

/** The message of `JSON.parse` can quote the file, and so a key. */
function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    const place = /line \d+ column \d+/.exec(String(error))?.[0];
    throw toError(file, `the file is not JSON${place === undefined ? "" : ` at ${place}`}`);
  }
}

/** Returns the first problem after the path of its field. */
export function describeIssue({ issues: [issue] }: z.ZodError): string {
  const key = issue?.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
  const path = z.core.toDotPath([...(issue?.path ?? []), ...key]);
  return `${path || "the file"} ${issue?.message}`;
}

/** The problem is cut: names in a file can be long. */
function toError(file: string, problem: string): CliError {
  return new CliError(printable`${file}: ${problem.slice(0, 300)}.`);
}
