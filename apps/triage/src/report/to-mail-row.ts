import { toPrintable, toPrintablePath } from "evaluator-kit";
import type { Answer, Questions } from "evaluator-client";
import { printCount } from "evaluator-runs/source";
import type { AnsweredRecord, KeptEvaluation, ResultRow } from "evaluator-runs/results";
import {
  addressesIn,
  describeDateGap,
  type Mail,
  mailOfRecord,
  receivedDay,
  senderAddress,
} from "../input/mail.ts";
import { type MailRow, type ShownAnswer, toPackedValue } from "./mail-row.ts";

/** What a row says beside the mail. */
export interface RowOptions {
  readonly answered: AnsweredRecord;
  readonly asked: readonly AskedNames[];
  /** The index of the rule that takes it; -1 for none. */
  readonly rule: number;
  /** The senders that were read before: most senders send many mails. */
  readonly senders: Map<string, ShownSender>;
}

/** A sender as the page shows one. */
export type ShownSender = Pick<MailRow, "sender" | "address" | "isMasked">;

/** A question, and the names of its options or levels in its answers. */
interface AskedNames {
  readonly id: string;
  readonly names: readonly string[];
}

/** Returns the names of what was asked. */
export function namesOf(questions: Questions): AskedNames[] {
  return Object.entries(questions).map(([id, { criteria }]) => {
    return { id, names: Object.keys(criteria ?? {}) };
  });
}

/** Returns a mail as the page shows it. */
export function toMailRow(row: ResultRow, { answered, asked, rule, senders }: RowOptions): MailRow {
  const { kept } = row;
  const mail = mailOfRecord(row.input);
  const { answers } = answered;
  const sender = senders.get(mail.from) ?? senderOf(mail.from);
  senders.set(mail.from, sender);
  return {
    id: toPrintablePath(mail.id),
    day: toPrintable(receivedDay(mail)),
    dated: describeDateGap(mail),
    ...sender,
    subject: toPrintable(mail.subject),
    snippet: toPrintable(mail.snippet),
    isNew: answered.isNew,
    rule,
    ...wayBackTo(mail),
    answers:
      kept === null || answers === null
        ? null
        : asked.map(({ id, names }) => toShown(answers[id], { kept, id, names })),
    error: kept === null ? toPrintable(String(row.record["error"] ?? "")) : "",
  };
}

function senderOf(from: string): ShownSender {
  const address = senderAddress(from) ?? "";
  const plain = toPrintable(from);
  const bracket = plain.lastIndexOf("<");
  const name = (bracket === -1 ? plain : plain.slice(0, bracket)).replaceAll('"', "").trim();
  if (name === "" || name.toLowerCase() === address) {
    return { sender: toPrintable(address) || plain, address: "", isMasked: false };
  }
  const isMasked = bracket !== -1 && addressesIn(name).some((other) => other !== address);
  return { sender: name, address: toPrintable(address), isMasked };
}

function wayBackTo({ source }: Mail): Pick<MailRow, "isOfGmail" | "location"> {
  const { file = "", offset } = source ?? {};
  const at = offset === undefined ? "" : `, byte ${printCount(offset)}`;
  const location = file === "" ? "" : toPrintablePath(file) + at;
  // Without a source an id of either form is the one thing that says where the mail is.
  const isOfGmail = source === undefined || source.gmail === true;
  return { isOfGmail, location };
}

function toShown(
  answer: Answer | undefined,
  { kept, id, names }: { kept: KeptEvaluation; id: string; names: readonly string[] },
): ShownAnswer {
  if (answer === undefined) return { value: 0, confidence: null, printed: null, shares: [] };
  const came = kept.answers[id];
  const isChanged = came !== undefined && came !== answer;
  const confidence = isChanged ? null : (kept.confidence[id] ?? null);
  if (answer.type === "boolean") {
    const printed = isChanged && came.type === "boolean" ? came.probability : null;
    return { value: toPackedValue(answer.probability), confidence: null, printed, shares: [] };
  }
  const all = answer.probabilities as Readonly<Record<string, number>>;
  const shares = names.map((name) => all[name] ?? 0);
  if (answer.type === "choice") {
    return { value: names.indexOf(answer.choice), confidence, printed: null, shares };
  }
  const printed = isChanged && came.type === "score" ? came.score : null;
  return { value: toPackedValue(answer.score), confidence, printed, shares };
}
