import type { Emulator } from "evaluator-emulator";
import { z } from "zod";

const journalSchema = z.object({
  requests: z.array(
    z.object({
      number: z.int(),
      path: z.string(),
      status: z.int().nullable(),
      ending: z.string().nullable(),
    }),
  ),
});

/** Counts the calls that an emulator has answered in full; what it has cut off costs nothing. */
export class AnsweredCalls {
  total = 0;
  #seen = 0;
  readonly #emulator: Emulator;

  constructor(emulator: Emulator) {
    this.#emulator = emulator;
  }

  /** Adds what was answered since the last time. */
  async count(): Promise<void> {
    const response = await this.#emulator.fetch("/_emulator/journal");
    const { requests } = journalSchema.parse(await response.json());
    const calls = requests.filter(
      ({ number, path }) => number > this.#seen && path.startsWith("/v4/"),
    );
    this.total += calls.filter(({ status, ending }) => status === 200 && ending === "whole").length;
    this.#seen = Math.max(this.#seen, ...requests.map(({ number }) => number));
  }
}
