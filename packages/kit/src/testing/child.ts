import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { createBirpc } from "birpc";

/** A child process that is asked by name, one thing at a time. */
export interface Child<TService extends ChildService> {
  /** Asks for something and waits for it. @throws Error if the child fails at it, or ends. */
  ask<TName extends keyof TService & string>(
    name: TName,
    ...input: Parameters<TService[TName]>
  ): Promise<Awaited<ReturnType<TService[TName]>>>;
  /** Lets the child end, and waits for it. */
  close(): Promise<void>;
  /** Ends the child, whatever it is at. */
  kill(): void;
}

/** Starts a file in its own Node, with these flags and this whole environment, without the parent's loaders. */
export function startChild<TService extends ChildService>(
  file: URL,
  execArgv: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Child<TService> {
  const child = fork(file, { execArgv: [...execArgv], serialization: "advanced", env });
  return childOf(child, file.pathname);
}

/** Returns a started process with a channel as one that is asked; the name is for errors. */
export function childOf<TService extends ChildService>(
  child: ChildProcess,
  name: string,
): Child<TService> {
  const calls = createBirpc<ChildService, object, false>(
    {},
    {
      post: (message) => child.send(message),
      on: (listener) => child.on("message", listener),
      timeout: -1, // a long round takes minutes
      proxify: false,
    },
  );
  const ended = once(child, "exit").then(() => {
    calls.$close(new Error(`The process of ${name} ended by itself.`));
  });
  const hold = holder(child);
  return {
    ask: (name, ...input) => hold(calls.$call(name, ...(input as [input: never]))) as never,
    async close() {
      if (child.connected) child.disconnect();
      await hold(ended);
    },
    kill: () => void child.kill("SIGKILL"),
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

/** What a child process can be asked to do, by name; each takes and gives what survives a copy. */
export type ChildService = Readonly<Record<string, (input: never) => unknown>>;

/** Serves the parent process until it lets go. */
export function serveParent(service: ChildService): void {
  createBirpc<object, ChildService, false>(service, {
    post: (message) => process.send?.(message),
    on: (listener) => process.on("message", listener),
    bind: "functions",
    proxify: false,
  });
  // Ends in order, so that a profile is written.
  process.once("disconnect", () => process.exit());
}
