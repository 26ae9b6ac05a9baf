import type { Answer } from "evaluator-client";
import { toPrintable, toPrintablePath } from "evaluator-kit";
import { type AskedQuestion, printCount, shortValue } from "evaluator-runs/source";
import type { AnsweredRecord, KeptEvaluation, ResultRow } from "evaluator-runs/results";
import {
  addressesIn,
  describeDateGap,
  toOrganisation,
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
  { kept: keptEvaluation, record }: ResultRow,
  { answers, isNew }: AnsweredRecord,
  { mail, asked: askedQuestions, rule, program }: RowOptions,
): MailRow {
  return {
    id: toPrintablePath(mail.id),
    day: toPrintable(receivedDay(mail)),
    dated: describeDateGap(mail),
    ...toSender(mail.from),
    subject: toPrintable(mail.subject),
    snippet: toPrintable(mail.snippet),
    isNew,
    rule,
    ...listSigns(mail),
    link: linkTo(mail, program),
    location: toLocation(mail),
    answers:
      keptEvaluation === null || answers === null
        ? null
        : askedQuestions.map((one) => toShown(answers[one.id], keptEvaluation, one)),
    error: keptEvaluation === null ? toPrintable(String(record["error"] ?? "")) : "",
  };
}

/** Returns the sender of a mail as the list shows it. */
function toSender(from: string) {
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
function listSigns({ from, headers = {} }: Mail) {
  const { checks = {}, replyTo } = headers;
  const results = Object.entries(checks).map(([name, result]) => {
    return {
      text: toPrintable(`${name.toUpperCase()} ${result}`),
      isBad: /fail|error/.test(result),
    };
  });
  const [reply, own] = [replyTo, senderAddress(from)].map((address) => toDomain(address ?? ""));
  const isElsewhere = reply !== "" && own !== "" && reply !== own;
  return {
    checks: results.map(({ text }) => text).join(", "),
    signs: [
      ...results.filter(({ isBad }) => isBad).map(({ text }) => text),
      ...(isElsewhere ? [`replies go to ${toPrintable(reply ?? "")}`] : []),
    ],
  };
}

function toDomain(address: string): string {
  return toOrganisation(address.slice(address.lastIndexOf("@") + 1));
}

function toLocation({ source }: Mail): string {
  const { file = "", offset } = source ?? {};
  const at = offset === undefined ? "" : `, byte ${printCount(offset)}`;
  return file === "" ? "" : toPrintablePath(file) + at;
}

function toShown(
  answer: Answer | undefined,
  keptEvaluation: KeptEvaluation,
  askedRequest: AskedQuestion,
) {
  if (answer === undefined) return { value: 0, confidence: null, printed: null, shares: [] };
  const { id, short, distribution } = askedRequest;
  const before = keptEvaluation.answers[id];
  const isChanged = before !== undefined && before !== answer;
  const all = distribution?.of(answer) ?? {};
  const toNumber = (one: Answer) => Number(shortValue(askedRequest, one));
  const isOption = short.form === "option";
  return {
    value: isOption ? short.keys.indexOf(short.of(answer)) : round(toNumber(answer)),
    confidence: isChanged ? null : round(keptEvaluation.confidence[id] ?? null),
    printed: isChanged && !isOption ? round(toNumber(before)) : null,
    shares: (distribution?.keys ?? []).map((key) => round(all[key] ?? 0)),
  };
}

// Services print hundredths, calibrations many more digits, which would make a page larger.
function round<TNumber extends number | null>(value: TNumber): TNumber {
  return (value === null ? null : Math.round(1000 * value) / 1000) as TNumber;
}
