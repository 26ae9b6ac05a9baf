import { hash } from "node:crypto";
import { senderAddress } from "../input/mail.ts";
import type { Mail } from "../input/mail-schema.ts";

/** Returns numbers of 48 bits; mails that share one belong to the same conversation, or are the same alert. */
export function threadKeys(mail: Mail, isScam: boolean): number[] {
  // Otherwise a scam could hide in a conversation, below a mail that is none.
  const digests = listTexts(mail).map((threadText) => hash("sha256", `${isScam} ${threadText}`));
  return digests.map((textDigest) => Number.parseInt(textDigest.slice(0, 12), 16));
}

/** Returns the ids of the mail and of those before it, or the text of a mail that answers none. */
function listTexts({ headers = {}, from, subject, snippet }: Mail): string[] {
  const { messageId, references = [] } = headers;
  const messageIds = [...references, ...(messageId === undefined ? [] : [messageId])];
  if (references.length > 0) return messageIds;
  // Alerts differ in times and numbers.
  const snippetWords = snippet.split(" ").filter((snippetWord) => !/\d/.test(snippetWord));
  return [...messageIds, JSON.stringify([senderAddress(from) ?? from, subject, ...snippetWords])];
}

type ThreadKey = Readonly<Record<"key" | "mail", number>>;

/** Joins mails that share a key, in nearly linear time; `sortedItems` is in order of the keys. Returns a function that numbers a mail's thread. */
export function joinThreads(sortedItems: Iterable<ThreadKey>): (mailNumber: number) => number {
  const parents: number[] = [];
  const findRoot = (mailNumber: number) => {
    let position = mailNumber;
    for (
      let parentMail = parents[position];
      parentMail !== undefined && parentMail !== position;
      parentMail = parents[position]
    ) {
      // Each step halves the way of the next search.
      position = parents[position] = parents[parentMail] ?? parentMail;
    }
    return position;
  };
  let lastKey: ThreadKey = { key: -1, mail: -1 };
  for (const { key, mail } of sortedItems) {
    if (lastKey.key === key) parents[findRoot(mail)] = findRoot(lastKey.mail);
    lastKey = { key, mail };
  }
  return findRoot;
}
