import { type CostEstimate, estimateCost, type EvaluationRequest } from "evaluator-client";
import { DigestTable, NumberList } from "../input/digest-table.ts";
import { changedInput, type InputMail } from "../input/mail-file.ts";
import type { Mail } from "../input/mail.ts";
import type { CallStatus } from "../journal/journal-reader.ts";
import type { MailEntry } from "../journal/journal.ts";
import { callKey, repeatedKey, setupHash } from "../journal/kept-answer.ts";
import type { RunContext } from "./run-context.ts";

/** Mails planned at once: each group waits for the disk once. */
const GROUP_SIZE = 500;
const allStatuses: readonly CallStatus[] = ["unknown", "answered", "begun", "changed"];
/** So much of the hash in a key tells states apart; the whole is made again for each call. */
const DIGEST_BYTES = 16;
const noPrice = { inputUsdPerMillionTokens: 0 };

/** One mail, and where its answer is kept. */
export interface PlannedCall extends InputMail {
  readonly key: string;
  readonly status: CallStatus;
}

/** What planning needs. */
export interface PlanOptions {
  /** Where answers are looked up; null when there is none yet. */
  readonly journal: {
    readonly statusesOf: (
      keys: readonly string[],
    ) => readonly CallStatus[] | Promise<readonly CallStatus[]>;
  } | null;
  /** Notes which mail has its answer where. @default nothing is noted */
  readonly noteMails?: (entries: readonly MailEntry[]) => void;
}

/** Finds out for each mail, in input order, whether its answer is already there. */
export async function planCalls(
  context: RunContext,
  { journal, noteMails }: PlanOptions,
): Promise<CallPlan> {
  const { input, run, signal } = context;
  const plan = new CallPlan(context);
  for await (const mails of inGroups(input.mails(run.limit), GROUP_SIZE)) {
    signal.throwIfAborted();
    const entries = mails.map((found) => ({ id: found.mail.id, key: plan.addKey(found) }));
    const statuses = await journal?.statusesOf(entries.map(({ key }) => key));
    for (const [at, mail] of mails.entries()) plan.addStatus(mail, statuses?.[at] ?? "unknown");
    noteMails?.(entries);
  }
  return plan;
}

/** The calls of a run: keys and statuses, and no mail, since an input may be larger than memory. */
export class CallPlan {
  readonly #context: RunContext;
  readonly #setup: string;
  readonly #keys: DigestTable;
  /** How many calls there are of the key with a number; equal states have one each. */
  readonly #callsOfKey: NumberList;
  /** By call: the number of its key, how many earlier ones have the same, and its status. */
  readonly #keyNumbers: NumberList;
  readonly #repeats: NumberList;
  readonly #statuses: NumberList;
  readonly #counts = { unknown: 0, answered: 0, begun: 0, changed: 0 };
  #missing = { calls: 0, inputTokens: 0 };

  constructor(context: RunContext) {
    this.#context = context;
    this.#setup = setupHash(context);
    const length = Math.min(context.input.length, context.run.limit);
    this.#keys = new DigestTable(DIGEST_BYTES, length);
    this.#callsOfKey = new NumberList(length);
    this.#keyNumbers = new NumberList(length);
    this.#repeats = new NumberList(length);
    this.#statuses = new NumberList(length);
  }

  /** How many calls there are. */
  get length(): number {
    return this.#statuses.length;
  }

  /** What is to be asked, estimated: calls of the model, and their input tokens. */
  get missing(): Readonly<Pick<CostEstimate, "calls" | "inputTokens">> {
    return this.#missing;
  }

  /** Returns how many calls have a status. */
  count(status: CallStatus): number {
    return this.#counts[status];
  }

  /** Adds the call about a mail, and returns its key. */
  addKey(input: InputMail): string {
    const key = this.#keyOf(input);
    const number = this.#keys.add(digestOf(key));
    const repeat = this.#callsOfKey.increase(number);
    this.#keyNumbers.push(number);
    this.#repeats.push(repeat);
    return repeatedKey(key, repeat);
  }

  /** Adds the status of the next call that has a key. */
  addStatus({ mail }: InputMail, status: CallStatus): void {
    this.#statuses.push(allStatuses.indexOf(status));
    this.#counts[status] += 1;
    if (status === "answered") return;
    const { transport } = this.#context;
    const request = requestFor(this.#context, mail);
    const { calls, inputTokens } = estimateCost([request], { ...noPrice, transport });
    this.#missing.calls += calls;
    this.#missing.inputTokens += inputTokens;
  }

  /**
   * Returns all calls in order, and reads their mails anew.
   *
   * @throws CliError when a mail is no longer the one that was planned.
   */
  async *calls(): AsyncGenerator<PlannedCall, undefined> {
    const { input, inputPath } = this.#context;
    let at = 0;
    for await (const found of input.mails(this.length)) {
      const key = this.#keyOf(found);
      const planned = this.#keys.at(this.#keyNumbers.at(at));
      if (!planned.equals(digestOf(key))) throw changedInput(inputPath);
      const status = allStatuses[this.#statuses.at(at)] ?? "unknown";
      yield { ...found, key: repeatedKey(key, this.#repeats.at(at)), status };
      at += 1;
    }
  }

  #keyOf({ mail }: InputMail): string {
    return callKey(this.#setup, JSON.stringify(this.#context.toState(mail)));
  }
}

function digestOf(key: string): Buffer {
  return Buffer.from(key, "base64url").subarray(0, DIGEST_BYTES);
}

/** Returns items in groups of `size`, the last one shorter. */
export async function* inGroups<TItem>(
  items: AsyncIterable<TItem> | Iterable<TItem>,
  size: number,
): AsyncGenerator<TItem[]> {
  let group: TItem[] = [];
  for await (const item of items) {
    if (group.push(item) < size) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}

/** Returns the request about a mail. */
export function requestFor({ toState, questions }: RunContext, mail: Mail): EvaluationRequest {
  return { state: toState(mail), questions };
}
