import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import process from "node:process";

/** A child process that is asked by name, one thing at a time. */
export interface Child<TService extends ChildService> {
  /**
   * Asks for something and waits for it.
   *
   * @throws Error when the child fails at it, or ends.
   */
  ask<TName extends keyof TService & string>(
    name: TName,
    ...input: Parameters<TService[TName]>
  ): Promise<Awaited<ReturnType<TService[TName]>>>;
  /** Lets the child end, and waits for it. */
  close(): Promise<void>;
}

/**
 * Starts a file of this package in a Node of its own, without the parent's loaders.
 *
 * @param file - The file's URL.
 * @param execArgv - Flags for that Node.
 * @param env - Its whole environment.
 */
export function startChild<TService extends ChildService>(
  file: URL,
  execArgv: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Child<TService> {
  const child = fork(file, { execArgv: [...execArgv], serialization: "advanced", env });
  const ended = once(child, "exit");
  let lastId = 0;
  const hold = holder(child);
  return {
    async ask(name, ...[input]) {
      const id = (lastId += 1);
      child.send({ id, name, input } satisfies ChildRequest);
      return (await hold(replyTo(child, { id, file }))) as never;
    },
    async close() {
      if (child.connected) child.disconnect();
      await hold(ended);
    },
  };
}

/** A child that nobody waits for keeps nothing alive: it ends when this process does. */
function holder(child: ChildProcess) {
  let waiting = 0;
  const change = (by: 1 | 0 | -1) => {
    waiting += by;
    const method = waiting === 0 ? "unref" : "ref";
    child[method]();
    child.channel?.[method]();
  };
  change(0);
  return async <TResult>(result: Promise<TResult>): Promise<TResult> => {
    change(1);
    return result.finally(() => change(-1));
  };
}

function replyTo(child: ChildProcess, { id, file }: { id: number; file: URL }): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const onMessage = (reply: ChildReply) => {
    if (reply.id !== id) return;
    if ("failure" in reply) reject(new Error(reply.failure));
    else resolve(reply.result);
  };
  const onExit = () => reject(new Error(`The process of ${file.pathname} ended by itself.`));
  child.on("message", onMessage).once("exit", onExit);
  return promise.finally(() => child.off("message", onMessage).off("exit", onExit));
}

/** What a child process can be asked to do, by name; each takes and gives what survives a copy. */
export type ChildService = Readonly<Record<string, (input: never) => unknown>>;

/** A request to a child process. */
export interface ChildRequest {
  readonly id: number;
  readonly name: string;
  readonly input: unknown;
}

/** A child process's reply: a result, or the words of a failure. */
export type ChildReply =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly failure: string };

/** Serves the parent process until it lets go. */
export function serveParent(service: ChildService): void {
  process.on("message", ({ id, name, input }: ChildRequest) => {
    void reply(id, async () => await service[name]?.(input as never));
  });
  // Ends in order, so that a profile is written.
  process.once("disconnect", () => process.exit());
}

async function reply(id: number, run: () => Promise<unknown>): Promise<void> {
  try {
    const result = await run();
    process.send?.({ id, result } satisfies ChildReply);
  } catch (error) {
    const failure = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.send?.({ id, failure } satisfies ChildReply);
  }
}
