import type { EmulatorOptions } from "evaluator-emulator";
import { startEmulator } from "./engines.ts";
import { run as runWords } from "./run.ts";
import { folderOf, tickets } from "./tickets.ts";

/** The words of a run about {@link tickets}. */
export const table = ["run", "tickets.csv", "--questions", "q.json"];

/** Two engines; the first is sure of the ticket about money alone, and the second of all others. */
export async function twoEngines(second: EmulatorOptions = {}) {
  const rules = [{ match: "money", answers: { refund: 0.99 } }, { answers: { refund: 0.6 } }];
  const one = await startEmulator({ rules });
  const other = await startEmulator({ rules: [{ answers: { refund: 0.05 } }], ...second });
  const cwd = await folderOf({ "tickets.csv": tickets });
  const engine = ["--engine", `gateway=${one.gatewayBaseUrl}`];
  const words = [...engine, "--then", `openai=${other.origin}`];
  const env = { OPENAI_API_KEY: "any" };
  const run = (typed: readonly string[], from = env) => runWords(cwd, typed, { env: from });
  const asked = async () => {
    const [first, again] = [await one.paths(), await other.paths()];
    return [countCalls(first), countCalls(again)];
  };
  return { cwd, run, words, engine, asked };
}

function countCalls(paths: readonly string[]): number {
  return paths.filter((path) => path !== "/v1/models").length;
}
