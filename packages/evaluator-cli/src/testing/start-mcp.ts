import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { runToExitCode, systemClock } from "evaluator-kit";
import { createTestContext } from "evaluator-kit/testing";
import { onTestFinished } from "vitest";
import { runEvaluator } from "../run-evaluator.ts";

/** Runs `mcp` until the test is over; returns its address once it listens. */
export async function startHttp(
  words: readonly string[],
  env: Record<string, string> = {},
  clock = systemClock,
) {
  const interruption = new AbortController();
  const { promise: printed, resolve: print } = Promise.withResolvers<string>();
  const context = createTestContext({
    env,
    clock,
    signal: interruption.signal,
    stdout: { write: (text) => print(text) },
  });
  const all = ["mcp", "--http", "0", ...words];
  const exited = runToExitCode(runEvaluator, all, { name: "It", context });
  onTestFinished(async () => {
    interruption.abort();
    await exited;
  });
  const text = await Promise.race([printed, exited.then(() => context.printed.stderr)]);
  return /^MCP is at (\S+)\n$/.exec(text)?.[1] ?? text;
}

/** Connects the official client over HTTP. */
export async function connectTo(url: string) {
  const client = new Client({ name: "a test", version: "1" });
  onTestFinished(() => client.close());
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return client;
}
