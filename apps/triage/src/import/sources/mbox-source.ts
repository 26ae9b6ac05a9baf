import type { FoundMail } from "../found-mail.ts";
import { parseMessage } from "../parse-message.ts";
import { splitMbox } from "./split-mbox.ts";

/** Finds the mails of an mbox stream; the day of delivery stands in for a missing date. */
export async function* mboxSource(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<FoundMail> {
  for await (const { number, deliveredAt, isCut, bytes } of splitMbox(chunks)) {
    yield {
      place: `message ${number}`,
      isCut,
      async read() {
        const mail = await parseMessage(bytes);
        return { ...mail, date: mail.date ?? deliveredAt };
      },
    };
  }
}
