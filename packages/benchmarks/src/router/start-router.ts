import { once } from "node:events";
import { repository } from "../client-build/build-client.ts";
import { startProgram } from "../process/run-program.ts";

/** A server as people start it. */
export interface StartedServer {
  readonly origin: string;
  /** The processor time it has used so far, in microseconds. */
  readonly cpuUs: () => Promise<number>;
  readonly stop: () => Promise<void>;
}

const probe = new URL("usage-probe.ts", import.meta.url).href;

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

/**
 * Starts a program that prints its origin, and asks it for the processor time it uses.
 *
 * @throws Error with what it printed when it does not start.
 */
export async function startServerProgram(
  path: string,
  env: Readonly<Record<string, string>>,
): Promise<StartedServer> {
  const child = startProgram(path, {
    args: [],
    execArgv: ["--import", probe],
    cwd: repository,
    env,
  });
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
