import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
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
