import { type ChildProcess, spawn, type StdioOptions } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { childOf } from "evaluator-cli-kit/child";
import { repository } from "../client-build.ts";
import type { ServerProbe } from "./server-probe.ts";

/** A program of this repository, started as its npm script starts it. */
export interface ProgramOptions {
  readonly args: readonly string[];
  /** The whole environment: nothing of this process's own gets in. */
  readonly env?: Readonly<Record<string, string>>;
  /** Whether what it prints goes nowhere, as too much of it would. @default false */
  readonly isSilent?: boolean;
}

/** Starts a program in the repository's root, with a probe of this folder loaded into it. */
function startProgram(
  probe: `${string}-probe.ts`,
  words: readonly string[],
  { env, stdio }: { env: Readonly<Record<string, string>>; stdio: StdioOptions },
): ChildProcess {
  const all = ["--import", new URL(`./${probe}`, import.meta.url).href, ...words];
  return spawn(process.execPath, all, { cwd: repository, env, stdio });
}

/** What a program took from its start to its end. */
export interface ProgramUsage {
  readonly wallMs: number;
  /** Processor time of all its threads. */
  readonly cpuMs: number;
  /** The most memory it had at once. */
  readonly peakMb: number;
}

/**
 * Runs a program to its end, and returns what it took.
 *
 * @throws Error with what it printed, unless it ended well.
 */
export async function runProgram(
  path: string,
  { args, env = {}, isSilent = false }: ProgramOptions,
): Promise<ProgramUsage> {
  const startedAt = performance.now();
  const child = startProgram("usage-probe.ts", [path, ...args], {
    env,
    stdio: ["ignore", isSilent ? "ignore" : "pipe", "pipe", "pipe"],
  });
  const [, stdout, stderr, usage] = child.stdio as (Readable | null)[];
  const printed = Promise.all([stdout, stderr, usage].map(textOf));
  await once(child, "exit");
  const wallMs = performance.now() - startedAt;
  const [out, errors, used] = await printed;
  if (child.exitCode === 0 && used) {
    const { userCPUTime, systemCPUTime, maxRSS } = JSON.parse(used) as NodeJS.ResourceUsage;
    return { wallMs, cpuMs: (userCPUTime + systemCPUTime) / 1000, peakMb: maxRSS / 1024 };
  }
  const words = `${out}${errors}`.slice(-2000);
  throw new Error(`${path} ${args.join(" ")} ended badly.\n${words}`);
}

async function textOf(stream: Readable | null | undefined): Promise<string> {
  return stream ? await text(stream) : "";
}

/** A server as people start it. */
export interface StartedServer {
  readonly origin: string;
  /** The processor time it has used so far, in microseconds. */
  readonly cpuUs: () => Promise<number>;
  readonly stop: () => Promise<void>;
}

/**
 * Starts the router in front of a gateway, on any free port, without a line for each response.
 *
 * @throws Error with what it printed when it does not start.
 */
export function startRouter(gatewayBaseUrl: string): Promise<StartedServer> {
  return startServerProgram("apps/router/src/main.ts", {
    AI_GATEWAY_API_KEY: "benchmark-key",
    EVALUATOR_BASE_URL: gatewayBaseUrl,
    ROUTER_ACCESS_LOG: "off",
    PORT: "0",
  });
}

/** Starts what the router is compared with: hono between its client and a gateway, and nothing else. */
export function startPassThrough(gatewayBaseUrl: string): Promise<StartedServer> {
  return startServerProgram("packages/benchmarks/src/process/pass-through.ts", {
    GATEWAY: gatewayBaseUrl,
  });
}

/**
 * Starts a program that prints its origin, and asks it for the processor time it uses.
 *
 * @throws Error with what it printed when it does not start.
 */
async function startServerProgram(
  path: string,
  env: Readonly<Record<string, string>>,
): Promise<StartedServer> {
  const stdio: StdioOptions = ["ignore", "pipe", "pipe", "ipc"];
  const child = startProgram("server-probe.ts", [path], { env, stdio });
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
  return {
    origin: await promise,
    cpuUs: () => probe.ask("cpuUs"),
    stop: () => probe.close(),
  };
}
