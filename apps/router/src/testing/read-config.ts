import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CliError, type Environment } from "evaluator-kit";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect } from "vitest";
import { readRouterConfig } from "../config/router-config.ts";

/** Variables of keys; no message may repeat one. */
export const plantedKeys = {
  AI_GATEWAY_API_KEY: "gateway-key-planted",
  CLAUDE_KEY: "claude-key-planted",
  BROKEN_KEY: "broken key planted",
};

/** Reads a configuration from a new folder. */
export async function readConfig(file: unknown, given: Environment = plantedKeys) {
  const folder = await temporaryFolder();
  const text = typeof file === "string" ? file : JSON.stringify(file);
  await writeFile(join(folder, "router.config.json"), text);
  return await readRouterConfig(given, folder);
}

/** Returns the message of a failure: one line without a key. */
export async function messageOf(reading: Promise<unknown>): Promise<string> {
  const error: unknown = await reading.then(
    () => expect.unreachable("the file is wrong"),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(CliError);
  const { message } = error as CliError;
  expect(message).not.toMatch(/planted/);
  expect(message).not.toMatch(/\n/);
  return message;
}

/** A configured upstream. */
export const local = { type: "openai-chat", baseUrl: "http://127.0.0.1:11434/v1" };
/** A tier that uses it. */
export const nano = { upstream: "local", model: "qwen3:4b" };

/** A file with one upstream and one tier, changed. */
export function changed({
  upstream = {},
  tier = {},
}: {
  upstream?: object;
  tier?: object;
}): object {
  return {
    upstreams: { local: { ...local, ...upstream }, gateway: { type: "gateway" } },
    tiers: { nano: { ...nano, ...tier } },
  };
}
