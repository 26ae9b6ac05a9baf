import { hash } from "node:crypto";
import { senderAddress } from "../input/mail.ts";
import type { Mail } from "../input/mail-schema.ts";

/** Joins mails of one conversation, and the same alert sent several times, in nearly linear time. */
export class Threads {
  readonly #mails = new Map<string, number>();
  readonly #parents: number[] = [];

  /** Adds a mail; returns the number for {@link Threads.rootOf}. */
  add(mail: Mail, isScam: boolean): number {
    const own = this.#parents.push(this.#parents.length) - 1;
    for (const key of keysOf(mail)) {
      // Otherwise a scam could hide in a conversation, below a mail that is none.
      const short = hash("sha256", `${isScam} ${key}`, "base64url").slice(0, 16);
      const other = this.#mails.get(short);
      if (other === undefined) this.#mails.set(short, own);
      else this.#parents[this.rootOf(own)] = this.rootOf(other);
    }
    return own;
  }

  /** Returns the number of a mail's thread, after all mails are added. */
  rootOf(mail: number): number {
    let at = mail;
    for (let up = this.#parents[at]; up !== undefined && up !== at; up = this.#parents[at]) {
      // Each step halves the way of the next search.
      at = this.#parents[at] = this.#parents[up] ?? up;
    }
    return at;
  }
}

/** Returns the ids of the mail and of those before it, or the text of a mail that answers none. */
function keysOf({ headers = {}, from, subject, snippet }: Mail): string[] {
  const { messageId, references = [] } = headers;
  const ids = [...references, ...(messageId === undefined ? [] : [messageId])];
  if (references.length > 0) return ids;
  // Alerts differ in times and numbers.
  const words = snippet.split(" ").filter((word) => !/\d/.test(word));
  return [...ids, JSON.stringify([senderAddress(from) ?? from, subject, ...words])];
}
