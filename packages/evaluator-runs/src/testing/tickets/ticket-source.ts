import { boolean, type JsonObject } from "evaluator-client";
import { isRecord, Option } from "evaluator-kit";
import { openRecords, type RecordForm } from "../../input/checked-records.ts";
import { readTable } from "../../input/read-table.ts";
import type { RecordSource, RunRecord } from "../../input/record-source.ts";
import { sampleQuestions, sampleSource } from "../samples.ts";

/** A ticket of a help desk. */
export interface Ticket {
  readonly id: string;
  readonly date: string;
  readonly from: string;
  readonly subject: string;
  readonly text: string;
}

/** Returns a ticket, with other fields if they are given. */
export function sampleTicket(fields: Partial<Ticket> = {}): Ticket {
  return {
    id: "m-1",
    date: "2026-11-02",
    from: "Northbank <alerts@northbank.example>",
    subject: "Your statement is ready",
    text: "The statement for October can be downloaded.",
    ...fields,
  };
}

/** Returns tickets with seven subjects. */
export function manyTickets(length: number): Ticket[] {
  return Array.from({ length }, (_, index) =>
    sampleTicket({ id: `m-${index}`, subject: `About ${index % 7}` }),
  );
}

/** Tickets as the records of runs: their state is all but the id, with the desk if it is typed. */
export const ticketSource: RecordSource = {
  ...sampleSource,
  word: "ticket",
  program: "tickets",
  suffix: "tickets",
  journalVariable: "TICKETS_JOURNAL",
  inputForm: "tickets in JSON or CSV",
  examples: ["inbox.json --offline"],
  options: [new Option("--desk <name>", "add the desk to the states")],
  readState: keepDesk,
  open: (path, options) => openRecords(path, ticketForm(options.state?.["desk"]), options),
  questions: async ({ TICKETS_TEAM: team = "the team" }) => ({
    ...sampleQuestions,
    scam: boolean(`Does it look like a scam to ${team}?`),
  }),
  columns: ["date", "from", "subject"].map((name) => ({ name, of: toText(name) })),
  queryColumns: [
    { name: "date", of: toText("date") },
    { name: "sender", of: toText("from") },
    { name: "subject", of: toText("subject") },
    { name: "text", of: toText("text") },
  ],
  dayOf: ({ state }) => (state["date"] ?? "") as string,
  keepStateOptions: keepDesk,
};

function keepDesk({ desk }: Readonly<Record<string, unknown>>) {
  return typeof desk === "string" ? { desk } : {};
}

function ticketForm(desk: unknown): RecordForm<RunRecord> {
  return {
    split: readTable,
    check(value) {
      if (!isRecord(value) || typeof value["id"] !== "string") {
        return { record: null, problems: ["has no id"] };
      }
      const { id, ...fields } = value as JsonObject & { id: string };
      const state = typeof desk === "string" ? { ...fields, desk } : fields;
      return { id, record: { id, state, source: null }, problems: [] };
    },
  };
}

function toText(key: string) {
  return ({ state }: RunRecord) => (state[key] ?? null) as string | null;
}
