import { type CliContext, printable } from "evaluator-kit";
import type { JsonObject } from "evaluator-client";
import {
  type InputOptions,
  openRecords,
  readJsonRecords,
  type RecordForm,
  type RecordInput,
  toUtf8Chunks,
} from "evaluator-runs/source";
import { z } from "zod";
import { type Mail, mailSchema } from "./mail-schema.ts";
import { type MailRecord, toState } from "./mail.ts";
import { type MailStateOptions, toStateOptions } from "./state-fields.ts";
import { additionCosts, chooseState } from "./state.ts";

/**
 * Opens a file of mails as the input of a run, and checks all its records: JSON in UTF-8 or UTF-16,
 * as an array, under `mails`, or by line.
 *
 * @throws CliError that names the file and its problems, and quotes nothing from it.
 */
export async function openMails(path: string, options: InputOptions = {}) {
  const wanted = toStateOptions(options.state ?? {});
  const mails = await openRecords(path, mailForm(wanted), options);
  const inputOf = (toMailState: (mail: Mail) => JsonObject) => {
    async function* records(limit?: number) {
      for await (const { index, record: mail } of mails.records(limit)) {
        yield { index, record: toRecord(mail, toMailState(mail)) };
      }
    }
    return {
      ...mails,
      records,
      async withState(context: CliContext): Promise<RecordInput> {
        return inputOf(await chooseState(wanted, records(), context));
      },
      additions: (tokensOf: (state: JsonObject) => number) => additionCosts(wanted, tokensOf),
    } satisfies RecordInput;
  };
  return inputOf(toState);
}

/** Returns a mail as a record with its state; the note is null if there is nothing to note. */
function toRecord(mail: Mail, state: JsonObject): MailRecord {
  const { id, source, received, headers } = mail;
  const hasNote = source !== undefined || received !== undefined || headers !== undefined;
  return { id, mail, state, source: hasNote ? { ...source, received, headers } : null };
}

const idSchema = z.looseObject({ id: mailSchema.shape.id });

function mailForm({ stateFields }: MailStateOptions): RecordForm<Mail> {
  // A wanted field of another form is a problem; the schema of a mail leaves it out.
  const shape = stateFields.map((field) => [field, mailSchema.shape[field].unwrap()]);
  const fields = z.object(Object.fromEntries(shape));
  return {
    split: (chunks) => readJsonRecords(toUtf8Chunks(chunks), "mails"),
    check(value) {
      const { data, error } = mailSchema.safeParse(value);
      const { issues = [] } = error ?? fields.safeParse(value).error ?? {};
      const problems = issues.map(({ path, message }) => [...path, message].join(" "));
      if (data !== undefined && problems.length === 0)
        return { id: data.id, record: data, problems };
      return { id: idSchema.safeParse(value).data?.id, record: null, problems };
    },
    advice:
      "Check the path; an export of mail is imported first: evaluator-triage import SOURCE inbox.json",
    adviceFor(file) {
      const source = file === "-" ? "FILE" : /\s/.test(file) ? JSON.stringify(file) : file;
      return printable`If it is an mbox, a mail or an archive: evaluator-triage import ${source} inbox.json`;
    },
  };
}
