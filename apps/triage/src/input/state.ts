import { hash } from "node:crypto";
import { resolve } from "node:path";
import { type CliContext, readTextFile } from "evaluator-kit";
import type { JsonObject } from "evaluator-client";
import { type AdditionCosts, printCount, printMails, printUsd } from "evaluator-runs/source";
import type { Mail, StateFields } from "./mail-schema.ts";
import { addressesIn, localDay, type MailRecord, senderAddress, toState } from "./mail.ts";
import {
  contextKeys,
  type MailStateOptions,
  type StateField,
  stateFields,
} from "./state-fields.ts";

type ToState = (mail: Mail) => JsonObject;
type MailRecords = AsyncIterable<{ readonly record: MailRecord }>;

/** Returns the function that makes the state of a mail: the contract's four keys, and more only on demand. */
export async function chooseState(
  options: MailStateOptions,
  all: MailRecords,
  context: CliContext,
): Promise<ToState> {
  const toBase = options.context ? await chooseContext(options, all, context) : toState;
  return (mail) => ({ ...toBase(mail), ...pickStateFields(mail, options.stateFields) });
}

/** Returns the wanted fields that a record has. */
function pickStateFields(record: StateFields, wanted: readonly StateField[]): StateFields {
  const entries = wanted.map((field) => [field, record[field]] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

const MS_PER_DAY = 86_400_000;

/**
 * Adds the fields that the contract recommends (section 4.7) to the state: `age_days`;
 * `repeat_count`, the number of mails with the same sender and subject in the whole input, this one
 * included; `known_contact`. Also two facts that a model cannot know (section 1, rule 7): `today`,
 * and whether it is `sent_by_user`, if the user's addresses are known.
 */
async function chooseContext(
  { contacts, today: countedTo }: MailStateOptions,
  all: MailRecords,
  { cwd, env, clock, signal }: CliContext,
): Promise<ToState> {
  const own = new Set(addressesIn(env["TRIAGE_USER_ADDRESSES"] ?? ""));
  const advice = "Check the path after --contacts.";
  // One address a line, a CSV or a vCard.
  const text = contacts === null ? "" : await readTextFile(resolve(cwd, contacts), advice);
  const known = new Set([...own, ...addressesIn(text)]);
  const today = countedTo ?? localDay(new Date(clock.epochNow()));
  const repeats = await countThreads(all, signal);
  return (mail) => {
    const address = senderAddress(mail.from) ?? "";
    return {
      ...toState(mail),
      age_days: Math.round((Date.parse(today) - Date.parse(mail.date)) / MS_PER_DAY),
      repeat_count: repeats.get(threadOf(mail)) ?? 0,
      known_contact: known.has(address),
      today,
      ...(own.size > 0 && { sent_by_user: own.has(address) }),
    };
  };
}

async function countThreads(all: MailRecords, signal: AbortSignal) {
  const counts = new Map<string, number>();
  for await (const { record } of all) {
    signal.throwIfAborted();
    const thread = threadOf(record.mail);
    counts.set(thread, (counts.get(thread) ?? 0) + 1);
  }
  return counts;
}

// A digest needs less memory than the text.
function threadOf({ from, subject }: Mail): string {
  const text = JSON.stringify([senderAddress(from) ?? from, normaliseSubject(subject)]);
  return hash("sha256", text, "base64url");
}

// Answers and forwards, as programs in several languages mark them, and a list's own mark.
const marks =
  /(?:(?:re|fwd?|aw|wg|sv|vs|tr|rv|antw|odp|res|enc)(?:\[\d{1,6}\])?\s?:|\[[^\]]{1,40}\])\s?/iuy;

/** Returns what two subjects of the same thread have in common. */
function normaliseSubject(subject: string): string {
  const text = subject.normalize("NFKC").replace(/\s+/gu, " ").trim();
  marks.lastIndex = 0;
  let end = 0;
  while (marks.test(text)) end = marks.lastIndex;
  return text.slice(end).toLowerCase();
}

/** Returns a counter of the cost of all possible additions to the state, wanted or not. */
export function additionCosts(
  options: MailStateOptions,
  tokensOf: (state: JsonObject) => number,
): AdditionCosts {
  const none = { mails: 0, tokens: 0 };
  const additions = [
    { name: "--context", keys: contextKeys, isOn: options.context, ...none },
    ...stateFields.map((name) => {
      return { name, keys: [name], isOn: options.stateFields.includes(name), ...none };
    }),
  ];
  return {
    add({ mail, state }: MailRecord) {
      if (!options.context && stateFields.every((field) => mail[field] === undefined)) return;
      const whole = { ...state, ...pickStateFields(mail, stateFields) };
      const tokens = tokensOf(whole);
      for (const addition of additions) {
        if (!addition.keys.some((key) => key in whole)) continue;
        addition.mails += 1;
        addition.tokens += tokens - tokensOf(without(whole, addition.keys));
      }
    },
    /** Returns lines with the cost of each over all mails that have it; empty if no mail has one. */
    describe(inputUsdPerMillionTokens) {
      const found = additions.filter(({ mails }) => mails > 0);
      if (found.length === 0) return "";
      const lines = found.map(({ name, isOn, mails, tokens }) => {
        const usd = (tokens * (inputUsdPerMillionTokens ?? 0)) / 1_000_000;
        const cost = inputUsdPerMillionTokens === null ? "" : `, ${printUsd(usd)}`;
        return `  ${name} (${isOn ? "on" : "off"}): ${printMails(mails)}, about ${printCount(tokens)} tokens${cost}\n`;
      });
      return `What the state may have more, and what that costs where a mail has it:\n${lines.join("")}`;
    },
  };
}

function without(state: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(state).filter(([key]) => !keys.includes(key)));
}
