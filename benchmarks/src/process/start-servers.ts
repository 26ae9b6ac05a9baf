import { spawn } from "node:child_process";
import process from "node:process";
import { childOf, startChild } from "evaluator-kit/child";
import { repository } from "../client-build.ts";
import type { ServerProbe } from "./server-probe.ts";
import type { ServerService } from "./server-process.ts";

/** A server as people start it, with the processor time that it uses. */
export type StartedServer = Awaited<ReturnType<typeof startServerProgram>>;

/**
 * Starts the router in front of a gateway, on a free port, without an access log.
 *
 * @param root - Another checkout of this repository, with its dependencies installed.
 * @throws Error with its output if it does not start.
 */
export function startRouter(gatewayBaseUrl: string, root?: string): Promise<StartedServer> {
  const env = {
    AI_GATEWAY_API_KEY: "benchmark-key",
    EVALUATOR_BASE_URL: gatewayBaseUrl,
    ROUTER_ACCESS_LOG: "off",
    ROUTER_MAX_CALLS: "500",
    PORT: "0",
  };
  return startServerProgram("apps/router/src/main.ts", env, root);
}

/** Starts the reference for the router: only hono between its client and an address of a gateway. */
export function startPassThrough(upstream: string): Promise<StartedServer> {
  return startServerProgram("benchmarks/src/process/pass-through.ts", { UPSTREAM: upstream });
}

/** Starts the reference for streams: the gateway's provider of `ai` in a bare server. */
export function startProvider(gatewayBaseUrl: string): Promise<StartedServer> {
  return startServerProgram("benchmarks/src/stream/provider-server.ts", {
    UPSTREAM: gatewayBaseUrl,
  });
}

/** Starts a program that prints its origin. */
async function startServerProgram(
  path: string,
  env: Readonly<Record<string, string>>,
  root = repository,
) {
  const probeUrl = new URL("server-probe.ts", import.meta.url).href;
  const child = spawn(process.execPath, ["--import", probeUrl, path], {
    cwd: root,
    env,
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const probe = childOf<ServerProbe>(child, path);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (text) => {
      printed += String(text);
      const origin = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0];
      if (origin !== undefined) resolve(origin);
    });
  }
  child.once("exit", () => reject(new Error(`${path} ended.\n${printed}`)));
  const origin = await promise;
  const bytesAtStart = await probe.ask("usedBytes");
  return {
    origin,
    /** Returns the processor time used so far, in microseconds. */
    cpuUs: () => probe.ask("cpuUs"),
    /** Returns the growth of the memory in use since the start, in bytes. */
    grownBytes: async () => (await probe.ask("usedBytes")) - bytesAtStart,
    [Symbol.asyncDispose]: () => probe.close(),
  };
}

/** A canned server in its own process. */
export type BenchmarkServer = Awaited<ReturnType<typeof startServer>>;

/** Starts the canned server; set its replies before use. */
export async function startServer() {
  const child = startChild<ServerService>(new URL("server-process.ts", import.meta.url));
  const origin = await child.ask("listen");
  return {
    /** The base URLs of the gateway, in front of `/evaluation-model`, and of the vendor's API. */
    addresses: { gateway: `${origin}/v4/ai`, direct: origin },
    /** Answers every request with the exchanges of this name. @default without delay */
    answer: (exchange: string, { latencyMs } = { latencyMs: 0 }) =>
      child.ask("answer", { exchange, latencyMs }),
    /** Returns the counts since the last reading. */
    takeCounts: () => child.ask("takeCounts"),
    [Symbol.asyncDispose]: () => child.close(),
  };
}
