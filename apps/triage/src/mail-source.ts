import { resolve } from "node:path";
import { Option, UsageError, wordList } from "evaluator-kit";
import { day } from "evaluator-runs/commands";
import type { RecordSource, RunRecord } from "evaluator-runs/source";
import { describeDateGap, localDay, receivedDay, senderAddress } from "./input/mail.ts";
import { stateFields, toStateOptions } from "./input/state-fields.ts";

/** Mails as the records of runs. */
export const mailSource: RecordSource = {
  word: "mail",
  program: "evaluator-triage",
  suffix: "triage",
  journalVariable: "TRIAGE_JOURNAL",
  inputForm:
    'a JSON array of { id, date, from, subject, snippet }, { "mails": [...] } or NDJSON; UTF-8 or UTF-16; -: standard input',
  examples: [
    "inbox.json --offline",
    "inbox.json --dry-run",
    "run inbox.json --max-cost 1 --top 20",
  ],
  options: [
    new Option(
      "--context",
      "add age_days, repeat_count, known_contact, today, sent_by_user to states",
    ),
    new Option(
      "--today <day>",
      "count ages to that day; another day asks again (default: today)",
    ).argParser(day),
    new Option(
      "--contacts <file>",
      "addresses, one a line, CSV or vCard (yours: TRIAGE_USER_ADDRESSES)",
    ),
    new Option(
      "--state-fields <list>",
      `add some of ${stateFields.join(", ")} to states, with commas between`,
    ).argParser(wordList(stateFields)),
  ],
  readState(options) {
    const state = toStateOptions(options);
    if (!state.context && (state.today ?? state.contacts) !== null) {
      throw new UsageError("--today and --contacts need --context.");
    }
    return state;
  },
  // Loaded late, since --help needs neither.
  async open(path, options) {
    const { openMails } = await import("./input/mail-input.ts");
    return await openMails(path, options);
  },
  async questions(env) {
    const { triageQuestions } = await import("./questions/triage-questions.ts");
    return triageQuestions(env["TRIAGE_USER_NAME"] ?? "the user");
  },
  columns: ["date", "from", "subject"].map((name) => ({ name, of: toText(name) })),
  queryColumns: [
    { name: "date", of: toText("date") },
    { name: "sender", of: toText("from") },
    { name: "address", of: ({ state }) => senderAddress((state["from"] ?? "") as string) },
    { name: "subject", of: toText("subject") },
    { name: "snippet", of: toText("snippet") },
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
  },
  dayOf: (record) => receivedDay(listDays(record)),
  markOf: (record) => describeDateGap(listDays(record)),
  keepStateOptions(options, { cwd, clock }) {
    const { context, today, contacts, ...others } = toStateOptions(options);
    return {
      context,
      today: context ? (today ?? localDay(new Date(clock.epochNow()))) : null,
      contacts: contacts === null ? null : resolve(cwd, contacts),
      ...others,
    };
  },
};

function listDays({ state, source }: RunRecord) {
  return {
    date: (state["date"] ?? "") as string,
    received: source?.["received"] as string | undefined,
  };
}

function toText(key: string): (record: RunRecord) => string | null {
  return ({ state }) => (state[key] ?? null) as string | null;
}

/** Returns whether a file of mails begins as `import` and `sample` write it. */
export function isMailFile(beginning: string): boolean {
  return beginning === "[]\n" || /^\[\n {2}\{\n {4}"id": [^]*?^ {4}"snippet": /m.test(beginning);
}
