import { resolve } from "node:path";
import type { CliContext } from "evaluator-kit";
import type { JsonObject } from "evaluator-client";
import type {
  InputOptions,
  InputRecord,
  RecordInput,
  RecordSource,
  RunRecord,
  StateOptions,
} from "evaluator-runs/source";
import {
  describeDateGap,
  receivedDay,
  senderAddress,
  stateFields,
  toRecord,
  toState,
} from "./input/mail.ts";
import { MailFile } from "./input/mail-file.ts";
import { triageQuestions } from "./questions/triage-questions.ts";
import { StateAdditions } from "./state-additions.ts";
import { chooseState, contextKeys, localDay, stateOptionsSchema, type ToState } from "./state.ts";

/** A file of mails as the input of a run. */
class MailInput implements RecordInput {
  readonly #file: MailFile;
  readonly #toState: ToState;
  readonly #options: StateOptions;

  constructor(file: MailFile, toState: ToState, options: StateOptions) {
    this.#file = file;
    this.#toState = toState;
    this.#options = options;
  }

  get length(): number {
    return this.#file.length;
  }

  get leftOutCount(): number {
    return this.#file.leftOutCount;
  }

  describeLeftOut(): string {
    return this.#file.describeLeftOut();
  }

  async *records(limit?: number): AsyncGenerator<InputRecord> {
    for await (const { index, mail } of this.#file.mails(limit)) {
      yield { index, record: toRecord(mail, this.#toState) };
    }
  }

  async withState(options: StateOptions, context: CliContext): Promise<RecordInput> {
    const chosen = await chooseState(stateOptionsSchema.parse(options), this.#file, context);
    return new MailInput(this.#file, chosen, options);
  }

  additions(tokensOf: (state: JsonObject) => number): StateAdditions {
    return new StateAdditions(stateOptionsSchema.parse(this.#options), tokensOf);
  }
}

/** Returns what a model read of a mail beside the contract's four fields. */
export function addedTo(
  state: Readonly<Record<string, unknown>>,
): readonly (readonly [key: string, value: unknown])[] {
  const keys = [...contextKeys, ...stateFields].filter((key) => state[key] !== undefined);
  return keys.map((key) => [key, state[key]]);
}

/** Mails as the records of runs. */
export const mailSource: RecordSource = {
  word: "mail",
  async open(path, { state = {}, ...options }: InputOptions) {
    const parsed = stateOptionsSchema.parse(state);
    const file = await MailFile.open(path, { ...options, stateFields: parsed.stateFields });
    return new MailInput(file, toState, state);
  },
  questions: (env) => triageQuestions(env["TRIAGE_USER_NAME"] ?? "the user"),
  columns: [
    { name: "date", of: textOf("date") },
    { name: "from", of: textOf("from") },
    { name: "subject", of: textOf("subject") },
  ],
  queryColumns: [
    { name: "date", what: "its day, as 2026-11-02", of: textOf("date") },
    { name: "sender", what: "as the mail has it", of: textOf("from") },
    {
      name: "address",
      what: "the sender's address alone",
      of: ({ state }) => senderAddress(state["from"] as string),
    },
    { name: "subject", what: "as the mail has it", of: textOf("subject") },
    { name: "snippet", what: "the start of its text", of: textOf("snippet") },
  ],
  table: {
    // As in the contract (section 4.7).
    answers: [
      { heading: "imp", field: "importance" },
      { heading: "conf", field: "importanceConf" },
      { heading: "scam", field: "scam" },
      { heading: "deal", field: "brandDeal" },
      { heading: "category", field: "category", isText: true },
    ],
    sort: "importance",
    dayField: "date",
    record: [
      { name: "date", most: Number.POSITIVE_INFINITY },
      { name: "from", most: 28 },
      { name: "subject", most: 60 },
    ],
    colours: {
      importance: { from: 4, colour: "yellow" },
      scam: { from: 0.5, colour: "red" },
      brandDeal: { from: 0.5, colour: "yellow" },
    },
  },
  dayOf: (record) => receivedDay(daysOf(record)),
  markOf: (record) => describeDateGap(daysOf(record)),
  hasAdditions: (state) => addedTo(state).length > 0,
  parseStateOptions: (kept) => stateOptionsSchema.parse(kept),
  keepStateOptions(options, { cwd, clock }) {
    const { context, today, contacts, ...others } = stateOptionsSchema.parse(options);
    return {
      context,
      today: context ? (today ?? localDay(clock.today())) : null,
      contacts: contacts === null ? null : resolve(cwd, contacts),
      ...others,
    };
  },
};

function daysOf({ state, source }: RunRecord) {
  return { date: state["date"] as string, received: source?.["received"] as string | undefined };
}

function textOf(key: string): (record: RunRecord) => string {
  return ({ state }) => state[key] as string;
}
