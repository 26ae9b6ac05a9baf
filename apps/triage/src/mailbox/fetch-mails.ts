import type { FetchMessageObject, FetchQueryObject, ImapFlow } from "imapflow";
import { takeRefusal } from "./connect.ts";
import { isBusy, mayBeOneMail, quoteServer, findRefusal } from "./refusals.ts";

interface MailQuery {
  readonly query: FetchQueryObject;
  /** Whether an answer has all fields that were asked for; the last time, only those without which it is no mail. */
  readonly isWhole: (message: FetchMessageObject, isLastTry: boolean) => boolean;
}

/** A mail of a UID, or why the server does not hand it out; neither if the mail is gone. */
export interface FetchedMail {
  readonly uid: number;
  readonly message: FetchMessageObject | null;
  /** The end of a sentence that begins with the mail. */
  readonly missingReason: string | null;
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
  wantedUids: readonly number[],
  askedMailQuery: MailQuery,
): AsyncGenerator<FetchedMail> {
  const remainingAnswers: Answers = new Map(wantedUids.map((uid) => [uid, null]));
  if (wantedUids.length === 0) return;
  yield* takeWhole(client, remainingAnswers, { ...askedMailQuery, isLastTry: false });
  if (remainingAnswers.size === 0) return;
  const presentUids = new Set(
    await searchUids(client, { uid: [...remainingAnswers.keys()].join(",") }),
  );
  let [refusal, refusedCount]: [unknown, number] = [null, 0];
  for (const [wantedUid, knownPart] of remainingAnswers) {
    if (!presentUids.has(wantedUid)) yield { uid: wantedUid, message: null, missingReason: null };
    else {
      const singleAnswer: Answers = new Map([[wantedUid, knownPart]]);
      const error = yield* takeWhole(client, singleAnswer, { ...askedMailQuery, isLastTry: true });
      if (singleAnswer.size === 0) continue;
      refusedCount += 1;
      refusal = error;
      yield { uid: wantedUid, message: null, missingReason: toReason(error) };
    }
  }
  // Not one of several mails is odd, but the server.
  if (refusedCount > 1 && refusedCount === wantedUids.length && isBusy(refusal)) throw refusal;
}

/** The incomplete answers of the server, by UID. */
type Answers = Map<number, FetchMessageObject | null>;

/** Yields and removes the mails that become whole; returns the refusal of the command. */
async function* takeWhole(
  client: ImapFlow,
  remainingAnswers: Answers,
  { query, isWhole, isLastTry }: MailQuery & { readonly isLastTry: boolean },
): AsyncGenerator<FetchedMail, unknown> {
  const uidRange = [...remainingAnswers.keys()].join(",");
  let refusal: unknown = null;
  try {
    for await (const fetchedPart of client.fetch(uidRange, query, { uid: true })) {
      const knownPart = remainingAnswers.get(fetchedPart.uid);
      if (knownPart === undefined) continue;
      const message = knownPart === null ? fetchedPart : mergeParts(knownPart, fetchedPart);
      if (isWhole(message, false)) {
        remainingAnswers.delete(fetchedPart.uid);
        yield { uid: fetchedPart.uid, message, missingReason: null };
      } else remainingAnswers.set(fetchedPart.uid, message);
    }
  } catch (error) {
    if (!mayBeOneMail(error)) throw error;
    refusal = error;
  }
  for (const [wantedUid, message] of remainingAnswers) {
    if (!isLastTry || message === null || !isWhole(message, true)) continue;
    remainingAnswers.delete(wantedUid);
    yield { uid: wantedUid, message, missingReason: null };
  }
  return refusal;
}

// A server may split the fields of a mail over several answers.
function mergeParts(
  knownPart: FetchMessageObject,
  fetchedPart: FetchMessageObject,
): FetchMessageObject {
  const bodyParts = new Map([...(knownPart.bodyParts ?? []), ...(fetchedPart.bodyParts ?? [])]);
  return { ...knownPart, ...fetchedPart, bodyParts };
}

function toReason(refusal: unknown): string {
  const serverWords = quoteServer(findRefusal(refusal)?.serverWords);
  return serverWords === "" ? "the server did not send it" : `the server refused it.${serverWords}`;
}

type SearchQuery = Parameters<ImapFlow["search"]>[0];

/** Returns the UIDs of the mails of the open folder that match. @throws The server's refusal. */
export async function searchUids(client: ImapFlow, searchQuery: SearchQuery): Promise<number[]> {
  takeRefusal(client);
  const foundUids = await client.search(searchQuery, { uid: true });
  if (Array.isArray(foundUids)) return foundUids;
  const error =
    takeRefusal(client) ?? Object.assign(new Error("refused"), { responseStatus: "NO" });
  // Servers refuse a search without a code if they are busy.
  const isPlain = /^NO (?!\[)/.test(findRefusal(error)?.serverWords ?? "");
  throw isPlain ? Object.assign(error, { code: "ETHROTTLE" }) : error;
}
