import { hash } from "node:crypto";
import { senderAddress } from "../input/mail.ts";
import type { Mail } from "../input/mail-schema.ts";

/** Returns numbers of 48 bits; mails that share one belong to the same conversation, or are the same alert. */
export function threadKeys(mail: Mail, isScam: boolean): number[] {
  // Otherwise a scam could hide in a conversation, below a mail that is none.
  const digests = listTexts(mail).map((text) => hash("sha256", `${isScam} ${text}`));
  return digests.map((digest) => Number.parseInt(digest.slice(0, 12), 16));
}

/** Returns the ids of the mail and of those before it, or the text of a mail that answers none. */
function listTexts({ headers = {}, from, subject, snippet }: Mail): string[] {
  const { messageId, references = [] } = headers;
  const ids = [...references, ...(messageId === undefined ? [] : [messageId])];
  if (references.length > 0) return ids;
  // Alerts differ in times and numbers.
  const words = snippet.split(" ").filter((word) => !/\d/.test(word));
  return [...ids, JSON.stringify([senderAddress(from) ?? from, subject, ...words])];
}

type ThreadKey = Readonly<Record<"key" | "mail", number>>;

/** Joins mails that share a key, in nearly linear time; `sortedItems` is in order of the keys. Returns a function that numbers a mail's thread. */
export function joinThreads(sortedItems: Iterable<ThreadKey>): (mail: number) => number {
  const parents: number[] = [];
  const toRoot = (mail: number) => {
    let at = mail;
    for (let up = parents[at]; up !== undefined && up !== at; up = parents[at]) {
      // Each step halves the way of the next search.
      at = parents[at] = parents[up] ?? up;
    }
    return at;
  };
  let last: ThreadKey = { key: -1, mail: -1 };
  for (const { key, mail } of sortedItems) {
    if (last.key === key) parents[toRoot(mail)] = toRoot(last.mail);
    last = { key, mail };
  }
  return toRoot;
}
