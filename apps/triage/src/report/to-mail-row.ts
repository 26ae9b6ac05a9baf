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
        : askedQuestions.map((askedQuestion) =>
            toShown(answers[askedQuestion.id], keptEvaluation, askedQuestion),
          ),
    error: keptEvaluation === null ? toPrintable(String(record["error"] ?? "")) : "",
  };
}

/** Returns the sender of a mail as the list shows it. */
function toSender(sender: string) {
  const address = senderAddress(sender) ?? "";
  const plainSender = toPrintable(sender);
  const bracket = plainSender.lastIndexOf("<");
  const senderName = (bracket === -1 ? plainSender : plainSender.slice(0, bracket))
    .replaceAll('"', "")
    .trim();
  if (senderName === "" || senderName.toLowerCase() === address) {
    return { sender: toPrintable(address) || plainSender, address: "", isMasked: false };
  }
  const isMasked =
    bracket !== -1 && addressesIn(senderName).some((otherAddress) => otherAddress !== address);
  return { sender: senderName, address: toPrintable(address), isMasked };
}

/** Returns the checks of the receiving host, and the signs of a forged sender among the headers. */
function listSigns({ from, headers = {} }: Mail) {
  const { checks = {}, replyTo } = headers;
  const results = Object.entries(checks).map(([checkName, checkResult]) => {
    return {
      text: toPrintable(`${checkName.toUpperCase()} ${checkResult}`),
      isBad: /fail|error/.test(checkResult),
    };
  });
  const [replyDomain, ownDomain] = [replyTo, senderAddress(from)].map((address) =>
    toDomain(address ?? ""),
  );
  const isElsewhere = replyDomain !== "" && ownDomain !== "" && replyDomain !== ownDomain;
  return {
    checks: results.map(({ text }) => text).join(", "),
    signs: [
      ...results.filter(({ isBad }) => isBad).map(({ text }) => text),
      ...(isElsewhere ? [`replies go to ${toPrintable(replyDomain ?? "")}`] : []),
    ],
  };
}

function toDomain(address: string): string {
  return toOrganisation(address.slice(address.lastIndexOf("@") + 1));
}

function toLocation({ source }: Mail): string {
  const { file = "", offset } = source ?? {};
  const bytePlace = offset === undefined ? "" : `, byte ${printCount(offset)}`;
  return file === "" ? "" : toPrintablePath(file) + bytePlace;
}

function toShown(
  shownAnswer: Answer | undefined,
  keptEvaluation: KeptEvaluation,
  askedRequest: AskedQuestion,
) {
  if (shownAnswer === undefined) return { value: 0, confidence: null, printed: null, shares: [] };
  const { id, short, distribution } = askedRequest;
  const earlierAnswer = keptEvaluation.answers[id];
  const isChanged = earlierAnswer !== undefined && earlierAnswer !== shownAnswer;
  const distributionShares = distribution?.of(shownAnswer) ?? {};
  const toNumber = (anyAnswer: Answer) => Number(shortValue(askedRequest, anyAnswer));
  const isOption = short.form === "option";
  return {
    value: isOption ? short.keys.indexOf(short.of(shownAnswer)) : roundValue(toNumber(shownAnswer)),
    confidence: isChanged ? null : roundValue(keptEvaluation.confidence[id] ?? null),
    printed: isChanged && !isOption ? roundValue(toNumber(earlierAnswer)) : null,
    shares: (distribution?.keys ?? []).map((shareKey) =>
      roundValue(distributionShares[shareKey] ?? 0),
    ),
  };
}

// Services print hundredths, calibrations many more digits, which would make a page larger.
function roundValue<TNumber extends number | null>(roundedValue: TNumber): TNumber {
  return (roundedValue === null ? null : Math.round(1000 * roundedValue) / 1000) as TNumber;
}
