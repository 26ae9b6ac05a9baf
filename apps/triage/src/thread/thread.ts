import { Worker } from "node:worker_threads";
import { TriageError } from "../errors.ts";
import { MAKING_ID, type ThreadCall, type ThreadReply } from "./thread-messages.ts";

type ArgsOf<TMethod> = TMethod extends (...args: infer TArgs) => unknown ? TArgs : never;
type ResultOf<TMethod> = TMethod extends (...args: never) => infer TResult
  ? Awaited<TResult>
  : never;

/** An object in a thread of its own; what goes in and comes out is copied. */
export class Thread<TService> {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  readonly #ended = Promise.withResolvers<void>();
  #endedBy: Error | null = null;
  #lastId = MAKING_ID;

  private constructor(file: URL, input: unknown) {
    // Without this thread's loaders: Node reads the few files by itself, and faster.
    this.#worker = new Worker(file, { workerData: input, execArgv: [] });
    this.#worker
      .on("message", (reply: ThreadReply) => this.#settle(reply))
      .on("error", (error) => this.#end(error))
      .on("exit", () => this.#end(null));
    this.#ended.promise.catch(() => undefined); // whoever waits for a reply is told
  }

  /**
   * Starts a file that serves an object.
   *
   * @throws What making the object throws: a TriageError as one.
   */
  static async start<TService>(file: URL, input: unknown): Promise<Thread<TService>> {
    const thread = new Thread<TService>(file, input);
    await thread.#replyTo(MAKING_ID);
    return thread;
  }

  /**
   * Calls a method of the object.
   *
   * @throws What the method throws: a TriageError as one; an Error when the thread has ended.
   */
  async call<TName extends keyof TService & string>(
    method: TName,
    ...args: ArgsOf<TService[TName]>
  ): Promise<ResultOf<TService[TName]>> {
    const id = (this.#lastId += 1);
    this.#worker.postMessage({ id, method, args } satisfies ThreadCall);
    return (await this.#replyTo(id)) as ResultOf<TService[TName]>;
  }

  /** Disposes of the object and waits for the thread's end. */
  async close(): Promise<void> {
    this.#worker.postMessage(null);
    await this.#ended.promise;
  }

  async #replyTo(id: number): Promise<unknown> {
    if (this.#endedBy !== null) throw this.#endedBy;
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting.set(id, waiting);
    return await waiting.promise;
  }

  #settle(reply: ThreadReply): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if ("result" in reply) waiting?.resolve(reply.result);
    else waiting?.reject("problem" in reply ? new TriageError(reply.problem) : reply.failure);
  }

  #end(error: Error | null): void {
    this.#endedBy ??= error ?? new Error("The thread has ended.");
    for (const { reject } of this.#waiting.values()) reject(this.#endedBy);
    this.#waiting.clear();
    if (error === null) this.#ended.resolve();
    else this.#ended.reject(error);
  }
}
