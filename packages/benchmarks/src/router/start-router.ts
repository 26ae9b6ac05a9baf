import { once } from "node:events";
import { repository } from "../client-build/build-client.ts";
import { startProgram } from "../process/run-program.ts";

/** The router as people start it. */
export interface StartedRouter {
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
export async function startRouter(gatewayBaseUrl: string): Promise<StartedRouter> {
  const child = startProgram("apps/router/src/main.ts", {
    args: ["--port", "0"],
    execArgv: ["--import", probe],
    cwd: repository,
    env: {
      AI_GATEWAY_API_KEY: "benchmark-key",
      EVALUATOR_BASE_URL: gatewayBaseUrl,
      ROUTER_ACCESS_LOG: "off",
    },
  });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (text) => {
      printed += String(text);
      const origin = /The router is at (http:\S+)/.exec(printed)?.[1];
      if (origin !== undefined) resolve(origin);
    });
  }
  child.once("exit", () => reject(new Error(`The router ended.\n${printed}`)));
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
