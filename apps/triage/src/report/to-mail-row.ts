import { toPrintable, toPrintablePath } from "evaluator-cli-kit";
import type { Answer, Questions } from "evaluator-client";
import { printCount } from "../amounts.ts";
import { addressesIn, type Mail, senderAddress } from "../input/mail.ts";
import type { ResultRow } from "../journal-results.ts";
import type { KeptEvaluation } from "../journal/kept-answer.ts";
import type { JudgedMail } from "../rules/conditions.ts";
import type { MailRow, ShownAnswer } from "./mail-row.ts";

/** What a row says beside the mail. */
export interface RowOptions {
  readonly judged: JudgedMail;
  readonly questions: Questions;
  /** The index of the rule that takes it; -1 for none. */
  readonly rule: number;
}

/** Returns a mail as the page shows it. */
export function toMailRow(
  { mail, record, kept }: ResultRow,
  { judged, questions, rule }: RowOptions,
): MailRow {
  const { answers } = judged;
  return {
    id: toPrintablePath(mail.id),
    day: toPrintable(mail.date),
    ...senderOf(mail.from),
    subject: toPrintable(mail.subject),
    snippet: toPrintable(mail.snippet),
    isNew: judged.isNew,
    rule,
    ...wayBackTo(mail),
    answers:
      kept === null || answers === null
        ? null
        : Object.entries(questions).map(([id, { criteria }]) =>
            toShown(answers[id], { kept, id, names: Object.keys(criteria ?? {}) }),
          ),
    error: toPrintable(String(record["error"] ?? "")),
  };
}

function senderOf(from: string): Pick<MailRow, "sender" | "address" | "isMasked"> {
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

/** Returns the link by which Gmail finds a mail, or where it stands in its export. */
function wayBackTo({ id, source }: Mail): Pick<MailRow, "link" | "place"> {
  const { file = "", offset } = source ?? {};
  const at = offset === undefined ? "" : `, byte ${printCount(offset)}`;
  const place = file === "" ? "" : toPrintablePath(file) + at;
  // Without a source an id of either form is the one thing that says where the mail is.
  const isOfGmail = source === undefined || source.gmail === true;
  return { link: isOfGmail ? gmailLink(id) : "", place };
}

function gmailLink(id: string): string {
  const base = "https://mail.google.com/mail/";
  if (/^[0-9a-f]{16}$/.test(id)) return `${base}#all/${id}`;
  // A second mail with the same id has a number behind it.
  const messageId = id.replace(/#\d{1,9}$/, "");
  if (!/^[^\s@<>]{1,400}@[^\s@<>]{1,400}$/.test(messageId)) return "";
  return `${base}#search/${encodeURIComponent(`rfc822msgid:${messageId.toWellFormed()}`)}`;
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
    return { value: answer.probability, confidence: null, printed, shares: [] };
  }
  const all = answer.probabilities as Readonly<Record<string, number>>;
  // A calibrated share has many decimals, and no reader for more than three.
  const shares = names.map((name) => Math.round(1000 * (all[name] ?? 0)) / 1000);
  if (answer.type === "choice") {
    return { value: names.indexOf(answer.choice), confidence, printed: null, shares };
  }
  const printed = isChanged && came.type === "score" ? came.score : null;
  return { value: answer.score, confidence, printed, shares };
}
