import process from "node:process";

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
