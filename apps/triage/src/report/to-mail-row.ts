import type { Answer } from "evaluator-client";
import { toPrintable, toPrintablePath } from "evaluator-kit";
import { type AskedQuestion, printCount, shortValue } from "evaluator-runs/source";
import type { AnsweredRecord, KeptEvaluation, ResultRow } from "evaluator-runs/results";
import {
  addressesIn,
  describeDateGap,
  organisationOf,
  receivedDay,
  senderAddress,
} from "../input/mail.ts";
import type { Mail } from "../input/mail-schema.ts";
import { linkTo } from "./mail-links.ts";
import type { MailRow } from "./mail-row.ts";

interface RowOptions {
  readonly mail: Mail;
  readonly asked: readonly AskedQuestion[];
  /** The index of the rule that takes it; -1 for none. */
  readonly rule: number;
  readonly program: Parameters<typeof linkTo>[1];
}

/** Returns a mail as the page shows it. */
export function toMailRow(
  { kept, record }: ResultRow,
  { answers, isNew }: AnsweredRecord,
  { mail, asked, rule, program }: RowOptions,
): MailRow {
  return {
    id: toPrintablePath(mail.id),
    day: toPrintable(receivedDay(mail)),
    dated: describeDateGap(mail),
    ...senderOf(mail.from),
    subject: toPrintable(mail.subject),
    snippet: toPrintable(mail.snippet),
    isNew,
    rule,
    ...signsOf(mail),
    link: linkTo(mail, program),
    location: locationOf(mail),
    answers:
      kept === null || answers === null
        ? null
        : asked.map((one) => toShown(answers[one.id], kept, one)),
    error: kept === null ? toPrintable(String(record["error"] ?? "")) : "",
  };
}

/** Returns the sender of a mail as the list shows it. */
function senderOf(from: string) {
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

/** Returns the checks of the receiving host, and the signs of a forged sender among the headers. */
function signsOf({ from, headers = {} }: Mail) {
  const { checks = {}, replyTo } = headers;
  const results = Object.entries(checks).map(([name, result]) => {
    return {
      text: toPrintable(`${name.toUpperCase()} ${result}`),
      isBad: /fail|error/.test(result),
    };
  });
  const [reply, own] = [replyTo, senderAddress(from)].map((address) => domainOf(address ?? ""));
  const isElsewhere = reply !== "" && own !== "" && reply !== own;
  return {
    checks: results.map(({ text }) => text).join(", "),
    signs: [
      ...results.filter(({ isBad }) => isBad).map(({ text }) => text),
      ...(isElsewhere ? [`replies go to ${toPrintable(reply ?? "")}`] : []),
    ],
  };
}

function domainOf(address: string): string {
  return organisationOf(address.slice(address.lastIndexOf("@") + 1));
}

function locationOf({ source }: Mail): string {
  const { file = "", offset } = source ?? {};
  const at = offset === undefined ? "" : `, byte ${printCount(offset)}`;
  return file === "" ? "" : toPrintablePath(file) + at;
}

function toShown(answer: Answer | undefined, kept: KeptEvaluation, asked: AskedQuestion) {
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
