import type { FetchMessageObject, FetchQueryObject, ImapFlow } from "imapflow";
import { takeRefusal } from "./connect.ts";
import { isBusy, mayBeOneMail, quoteServer, findRefusal } from "./refusals.ts";

interface MailQuery {
  readonly query: FetchQueryObject;
  /** Whether an answer has all fields that were asked for; the last time, only those without which it is no mail. */
  readonly isWhole: (message: FetchMessageObject, isLast: boolean) => boolean;
}

/** A mail of a UID, or why the server does not hand it out; neither if the mail is gone. */
export interface FetchedMail {
  readonly uid: number;
  readonly message: FetchMessageObject | null;
  /** The end of a sentence that begins with the mail. */
  readonly why: string | null;
}

/**
 * Fetches mails by UID. A server may send any fields of any mail at any time (RFC 9051, section 7),
 * so only a whole answer about a UID that was asked for counts. Mails without one are asked for
 * again, one by one, so that none hides the others.
 *
 * @throws The refusal of a busy server.
 */
export async function* fetchMails(
  client: ImapFlow,
  uids: readonly number[],
  askedMailQuery: MailQuery,
): AsyncGenerator<FetchedMail> {
  const remainingAnswers: Answers = new Map(uids.map((uid) => [uid, null]));
  if (uids.length === 0) return;
  yield* takeWhole(client, remainingAnswers, { ...askedMailQuery, isLast: false });
  if (remainingAnswers.size === 0) return;
  const there = new Set(await searchUids(client, { uid: [...remainingAnswers.keys()].join(",") }));
  let [refusal, refusedCount]: [unknown, number] = [null, 0];
  for (const [uid, knownPart] of remainingAnswers) {
    if (!there.has(uid)) yield { uid, message: null, why: null };
    else {
      const one: Answers = new Map([[uid, knownPart]]);
      const error = yield* takeWhole(client, one, { ...askedMailQuery, isLast: true });
      if (one.size === 0) continue;
      refusedCount += 1;
      refusal = error;
      yield { uid, message: null, why: toReason(error) };
    }
  }
  // Not one of several mails is odd, but the server.
  if (refusedCount > 1 && refusedCount === uids.length && isBusy(refusal)) throw refusal;
}

/** The incomplete answers of the server, by UID. */
type Answers = Map<number, FetchMessageObject | null>;

/** Yields and removes the mails that become whole; returns the refusal of the command. */
async function* takeWhole(
  client: ImapFlow,
  remainingAnswers: Answers,
  { query, isWhole, isLast }: MailQuery & { readonly isLast: boolean },
): AsyncGenerator<FetchedMail, unknown> {
  const range = [...remainingAnswers.keys()].join(",");
  let refusal: unknown = null;
  try {
    for await (const row of client.fetch(range, query, { uid: true })) {
      const knownPart = remainingAnswers.get(row.uid);
      if (knownPart === undefined) continue;
      const message = knownPart === null ? row : merge(knownPart, row);
      if (isWhole(message, false)) {
        remainingAnswers.delete(row.uid);
        yield { uid: row.uid, message, why: null };
      } else remainingAnswers.set(row.uid, message);
    }
  } catch (error) {
    if (!mayBeOneMail(error)) throw error;
    refusal = error;
  }
  for (const [uid, message] of remainingAnswers) {
    if (!isLast || message === null || !isWhole(message, true)) continue;
    remainingAnswers.delete(uid);
    yield { uid, message, why: null };
  }
  return refusal;
}

// A server may split the fields of a mail over several answers.
function merge(knownPart: FetchMessageObject, row: FetchMessageObject): FetchMessageObject {
  const bodyParts = new Map([...(knownPart.bodyParts ?? []), ...(row.bodyParts ?? [])]);
  return { ...knownPart, ...row, bodyParts };
}

function toReason(refusal: unknown): string {
  const words = quoteServer(findRefusal(refusal)?.words);
  return words === "" ? "the server did not hand it out" : `the server refused it.${words}`;
}

type SearchQuery = Parameters<ImapFlow["search"]>[0];

/** Returns the UIDs of the mails of the open folder that match. @throws The server's refusal. */
export async function searchUids(client: ImapFlow, query: SearchQuery): Promise<number[]> {
  takeRefusal(client);
  const uids = await client.search(query, { uid: true });
  if (Array.isArray(uids)) return uids;
  const error =
    takeRefusal(client) ?? Object.assign(new Error("refused"), { responseStatus: "NO" });
  // Servers refuse a search without a code if they are busy.
  const isPlain = /^NO (?!\[)/.test(findRefusal(error)?.words ?? "");
  throw isPlain ? Object.assign(error, { code: "ETHROTTLE" }) : error;
}
