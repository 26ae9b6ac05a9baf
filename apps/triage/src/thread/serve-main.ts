import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { TriageError } from "../errors.ts";
import { MAKING_ID, type ThreadCall, type ThreadReply } from "./thread-messages.ts";

type Service = Disposable & Record<string, (...args: readonly unknown[]) => unknown>;

/**
 * Lets the main thread call the methods of an object in this thread, until it lets go.
 *
 * @param make - Makes the object from what the main thread gave.
 */
export function serveMain<TInput>(make: (input: TInput) => Disposable): void {
  const port = parentPort as MessagePort;
  void answer(port, MAKING_ID, () => {
    const service = make(workerData as TInput) as Service;
    port.on("message", (call: ThreadCall | null) => {
      if (call === null) close(port, service);
      else void answer(port, call.id, () => service[call.method]?.(...call.args));
    });
  });
}

function close(port: MessagePort, service: Disposable): void {
  service[Symbol.dispose]();
  port.close();
}

async function answer(port: MessagePort, id: number, run: () => unknown): Promise<void> {
  const reply = await settle(id, run);
  port.postMessage(reply);
}

async function settle(id: number, run: () => unknown): Promise<ThreadReply> {
  try {
    return { id, result: await run() };
  } catch (error) {
    // An error's class does not survive the way between threads.
    if (error instanceof TriageError) return { id, problem: error.message };
    return { id, failure: error };
  }
}
