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
  programUrl: URL,
  execArgv: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): Child<TService> {
  const child = fork(programUrl, {
    execArgv: [...execArgv],
    serialization: "advanced",
    env: environment,
  });
  return childOf(child, programUrl.pathname);
}

/** Returns a started process with a channel as one that is asked; the name is for errors. */
export function childOf<TService extends ChildService>(
  child: ChildProcess,
  processName: string,
): Child<TService> {
  const processCalls = createBirpc<ChildService, object, false>(
    {},
    {
      post: (message) => child.send(message),
      on: (listener) => child.on("message", listener),
      timeout: -1, // a long round takes minutes
      proxify: false,
    },
  );
  const exitPromise = once(child, "exit").then(() => {
    processCalls.$close(new Error(`The process of ${processName} ended by itself.`));
  });
  const holdWhile = createHolder(child);
  return {
    ask: (name, ...input) =>
      holdWhile(processCalls.$call(name, ...(input as [input: never]))) as never,
    async close() {
      if (child.connected) child.disconnect();
      await holdWhile(exitPromise);
    },
    kill: () => void child.kill("SIGKILL"),
  };
}

/** A child that nobody waits for keeps nothing alive: it ends when this process does. */
function createHolder(child: ChildProcess) {
  let waitingCount = 0;
  const changeWaiting = (difference: 1 | 0 | -1) => {
    waitingCount += difference;
    const referenceMethod = waitingCount === 0 ? "unref" : "ref";
    child[referenceMethod]();
    child.channel?.[referenceMethod]();
  };
  changeWaiting(0);
  return async <TResult>(resultPromise: Promise<TResult>): Promise<TResult> => {
    changeWaiting(1);
    return resultPromise.finally(() => changeWaiting(-1));
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
