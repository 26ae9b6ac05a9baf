import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { execPath } from "node:process";
import { freePort } from "evaluator-kit/postgres-server";

/** A server of a Python environment on loopback, which ends with its test. */
export class PeerServer {
  readonly #program: ChildProcess;
  readonly origin: string;

  private constructor(program: ChildProcess, origin: string) {
    this.#program = program;
    this.origin = origin;
  }

  /** Starts a program on a free port, and waits until it answers. */
  static async start(
    bin: string,
    command: readonly string[],
    options: { env?: Record<string, string>; ready?: string } = {},
  ): Promise<PeerServer> {
    const port = await freePort();
    const [name = "", ...words] = command.map((word) => word.replace("PORT", String(port)));
    const env = { PATH: `${bin}:/usr/bin:/bin`, HOME: "/nonexistent", ...options.env };
    const program = spawn(join(bin, name), words, { env, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [program.stdout, program.stderr])
      stream.on("data", (data: Buffer) => (output += data.toString()));
    const origin = `http://127.0.0.1:${port}`;
    const ended = once(program, "exit").then(() => {
      throw new Error(`${name} ended before it answered:\n${output.slice(-2000)}`);
    });
    await Promise.race([ended, answers(origin + (options.ready ?? "/"))]);
    return new PeerServer(program, origin);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#program.kill("SIGKILL");
    if (this.#program.exitCode === null) await once(this.#program, "exit");
  }
}

/** Starts the router in front of an emulator that knows "right-key". */
export function startRouter(emulator: string, token: string) {
  const main = join(import.meta.dirname, "../../apps/router/src/main.ts");
  return PeerServer.start(dirname(execPath), ["node", main, "--port", "PORT"], {
    env: {
      AI_GATEWAY_API_KEY: "right-key",
      EVALUATOR_BASE_URL: `${emulator}/v4/ai`,
      ROUTER_ACCESS_TOKEN: token,
    },
    ready: "/healthz",
  });
}

/** Returns once a server answers with any status. */
async function answers(url: string): Promise<void> {
  for (;;) {
    const isUp = await fetch(url).then(
      () => true,
      () => false,
    );
    if (isUp) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
