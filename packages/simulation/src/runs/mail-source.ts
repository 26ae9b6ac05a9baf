import { estimateTokens, type JsonObject } from "evaluator-client";
import type { RecordSource } from "evaluator-runs";
import { CHUNK_SIZE } from "evaluator-runs/postgres";
import { PASSWORD } from "../properties/secrets.ts";
import { questions } from "../service/answer.ts";

/** The database of the runs that workers share. */
export const RUNS_URL = `postgres://ada:${PASSWORD}@db.example/simulation`;

/** Some mails have the state of the one so far before them. */
export const REPEATED_AFTER = 4;

/** Returns the mail whose state a record has. */
export function mailOf(index: number): number {
  return index % 9 === 8 ? index - REPEATED_AFTER : index;
}

/** Returns the state of a mail; some mails have the same. */
function stateOf(index: number): JsonObject {
  const mail = mailOf(index);
  return { mail, text: "word ".repeat((mail * 7) % 30) };
}

/** Returns the estimated cost of some mails in US dollars, as a run announces it. */
export function estimateUsd(from: number, to: number): number {
  const tokens = Array.from({ length: to - from }, (_, at) =>
    estimateTokens({ state: stateOf(from + at), questions }),
  );
  return (tokens.reduce((sum, each) => sum + each, 0) * 0.042) / 1e6;
}

/** Returns the number of the mail that a request is about. */
export function mailIn(body: string): number {
  return Number(/^\{"state":\{"mail":(\d+)/.exec(body)?.[1]);
}

/** Returns the chunks of the records that have the state of a mail. */
export function chunksOf(mail: number): readonly number[] {
  const last = timesIn(mail) === 1 ? mail : mail + REPEATED_AFTER;
  return [...new Set([mail, last].map(chunkOf))];
}

/** Returns the chunk of a record. */
export function chunkOf(index: number): number {
  return Math.floor(index / CHUNK_SIZE);
}

/** Returns how many mails have the state of this one at most. */
export function timesIn(mail: number): number {
  return (mail + REPEATED_AFTER) % 9 === 8 ? 2 : 1;
}

/** Returns the id of a mail. */
export function idOf(index: number): string {
  return `mail-${index}`;
}

/** Returns a source with so many mails, which are in no file. */
export function mailSource(count: number): RecordSource {
  const records = async function* records(limit = Number.POSITIVE_INFINITY) {
    for (let index = 0; index < Math.min(limit, count); index += 1) {
      yield { index, record: { id: idOf(index), state: stateOf(index), source: null } };
    }
  };
  return {
    word: "mail",
    program: "simulation",
    suffix: "simulated",
    journalVariable: "SIMULATION_JOURNAL",
    inputForm: "mails",
    examples: [],
    options: [],
    readState: () => ({}),
    open: async () => ({ length: count, leftOutCount: 0, describeLeftOut: () => "", records }),
    questions: async () => questions,
    columns: [],
    queryColumns: [],
    table: null,
    keepStateOptions: () => ({}),
  };
}
