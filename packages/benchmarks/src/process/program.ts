import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { repository } from "../client-build.ts";

/** A program of this repository, started as its npm script starts it. */
export interface ProgramOptions {
  readonly args: readonly string[];
  /** The whole environment: nothing of this process's own gets in. */
  readonly env?: Readonly<Record<string, string>>;
  /** Whether what it prints goes nowhere, as too much of it would. @default false */
  readonly isSilent?: boolean;
}

const probe = new URL("usage-probe.ts", import.meta.url).href;

/** Starts a program in the repository's root; it tells over a channel what processor time and memory it uses. */
function startProgram(
  path: string,
  { args, env = {}, isSilent = false }: ProgramOptions,
): ChildProcess {
  const words = ["--import", probe, path, ...args];
  const stdio = ["ignore", isSilent ? "ignore" : "pipe", "pipe", "ipc"] as const;
  return spawn(process.execPath, words, { cwd: repository, env, stdio: [...stdio] });
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
export async function runProgram(path: string, options: ProgramOptions): Promise<ProgramUsage> {
  const startedAt = performance.now();
  const child = startProgram(path, options);
  const printed = [child.stdout, child.stderr].map((stream) =>
    stream ? text(stream) : Promise.resolve(""),
  );
  let usage: NodeJS.ResourceUsage | null = null;
  child.on("message", (message) => (usage = message as NodeJS.ResourceUsage));
  await Promise.all([once(child, "exit"), once(child, "disconnect")]);
  const wallMs = performance.now() - startedAt;
  const words = await Promise.all(printed);
  if (child.exitCode === 0 && usage !== null) {
    const { userCPUTime, systemCPUTime, maxRSS } = usage as NodeJS.ResourceUsage;
    return { wallMs, cpuMs: (userCPUTime + systemCPUTime) / 1000, peakMb: maxRSS / 1024 };
  }
  throw new Error(`${path} ${options.args.join(" ")} ended badly.\n${words.join("").slice(-2000)}`);
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
  const child = startProgram(path, { args: [], env });
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
    async cpuUs() {
      child.send("cpu");
      const [{ user, system }] = (await once(child, "message")) as [NodeJS.CpuUsage];
      return user + system;
    },
    async stop() {
      child.kill("SIGTERM");
      if (child.exitCode === null) await once(child, "exit");
    },
  };
}
