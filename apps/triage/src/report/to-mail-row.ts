import { toPrintable, toPrintablePath } from "evaluator-kit";
import type { Answer } from "evaluator-client";
import { type AskedQuestion, printCount, shortValue } from "evaluator-runs/source";
import type { AnsweredRecord, KeptEvaluation, ResultRow } from "evaluator-runs/results";
import type { Mail } from "../input/mail-schema.ts";
import {
  addressesIn,
  describeDateGap,
  mailOfRecord,
  receivedDay,
  senderAddress,
} from "../input/mail.ts";
import type { MailRow, ShownAnswer } from "./mail-row.ts";

/** Returns a mail as the page shows it. */
export function toMailRow(
  { input, kept, record }: ResultRow,
  { answers, isNew }: AnsweredRecord,
  { asked, rule }: { readonly asked: readonly AskedQuestion[]; readonly rule: number },
): MailRow {
  const mail = mailOfRecord(input);
  return {
    id: toPrintablePath(mail.id),
    day: toPrintable(receivedDay(mail)),
    dated: describeDateGap(mail),
    ...senderOf(mail.from),
    subject: toPrintable(mail.subject),
    snippet: toPrintable(mail.snippet),
    isNew,
    rule,
    ...wayBackTo(mail),
    answers:
      kept === null || answers === null
        ? null
        : asked.map((one) => toShown(answers[one.id], kept, one)),
    error: kept === null ? toPrintable(String(record["error"] ?? "")) : "",
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

function wayBackTo({ source }: Mail): Pick<MailRow, "isOfGmail" | "location"> {
  const { file = "", offset } = source ?? {};
  const at = offset === undefined ? "" : `, byte ${printCount(offset)}`;
  const location = file === "" ? "" : toPrintablePath(file) + at;
  // Without a source only the form of the id can name Gmail.
  const isOfGmail = source === undefined || source.gmail === true;
  return { isOfGmail, location };
}

function toShown(
  answer: Answer | undefined,
  kept: KeptEvaluation,
  asked: AskedQuestion,
): ShownAnswer {
  if (answer === undefined) return { value: 0, confidence: null, printed: null, shares: [] };
  const { id, short, distribution } = asked;
  const before = kept.answers[id];
  const isChanged = before !== undefined && before !== answer;
  const all = distribution?.of(answer) ?? {};
  const numberOf = (one: Answer) => Number(shortValue(asked, one));
  const isOption = short.form === "option";
  return {
    value: isOption ? short.keys.indexOf(short.of(answer)) : round(numberOf(answer)),
    confidence: isChanged ? null : round(kept.confidence[id] ?? null),
    printed: isChanged && !isOption ? round(numberOf(before)) : null,
    shares: (distribution?.keys ?? []).map((key) => round(all[key] ?? 0)),
  };
}

// Services print hundredths, calibrations many more digits, which would make a page larger.
function round<TNumber extends number | null>(value: TNumber): TNumber {
  return (value === null ? null : Math.round(1000 * value) / 1000) as TNumber;
}
