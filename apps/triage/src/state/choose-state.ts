import { resolve } from "node:path";
import type { TriageRun } from "../arguments/run-arguments.ts";
import type { MailFile } from "../input/mail-file.ts";
import { addressesIn } from "../input/sender-address.ts";
import type { Surroundings } from "../surroundings.ts";
import { readContacts } from "./read-contacts.ts";
import { RepeatCounts, toContextState } from "./to-context-state.ts";
import { type ToState, toState } from "./to-state.ts";

/** Gives the state a run sends: the contract's four keys, and more only when asked for. */
export async function chooseState(
  run: TriageRun,
  input: MailFile,
  { cwd, env, clock, signal }: Surroundings,
): Promise<ToState> {
  if (!run.context) return toState;
  const read = run.contacts === null ? [] : await readContacts(resolve(cwd, run.contacts));
  const own = addressesIn(env["TRIAGE_USER_ADDRESSES"] ?? "");
  const today = run.today ?? localDay(clock.today());
  const repeats = await RepeatCounts.of(input, signal);
  return toContextState({ today, repeats, contacts: new Set([...read, ...own]) });
}

function localDay(date: Date): string {
  const [year, month, day] = [date.getFullYear(), date.getMonth() + 1, date.getDate()];
  return [year, month, day].map((part) => String(part).padStart(2, "0")).join("-");
}
