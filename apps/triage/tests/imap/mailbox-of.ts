import { ImapFlow } from "imapflow";
import type { PlanLine } from "../../src/mailbox/plan-line.ts";
import { mailId } from "../../src/mailbox/read-message.ts";
import type { Dovecot } from "./start-dovecot.ts";

/** One mail of a test: its subject is its name. */
export interface TestMail {
  readonly subject: string;
  readonly messageId?: string;
  readonly flags?: readonly string[];
}

/** A mail on the server. */
export interface FoundMail extends Required<TestMail> {
  /** As an import makes it. */
  readonly id: string;
  readonly folder: string;
  readonly uidvalidity: number;
  readonly uid: number;
}

/** Signs in to the mailbox of a user, as a person's mail program does. */
export async function signIn({ port, password }: Dovecot, user: string): Promise<ImapFlow> {
  const auth = { user, pass: password };
  const client = new ImapFlow({
    host: "127.0.0.1",
    port,
    secure: false,
    auth,
    logger: false,
    doSTARTTLS: false,
  });
  await client.connect();
  return client;
}

/** Fills the INBOX of a user, and returns the client that did it. */
export async function fillMailbox(server: Dovecot, user: string, mails: readonly TestMail[]) {
  const client = await signIn(server, user);
  for (const { subject, messageId, flags = [] } of mails) {
    const id = messageId === undefined ? "" : `Message-ID: <${messageId}>\r\n`;
    const text = `From: ada@example.com\r\n${id}Subject: ${subject}\r\n\r\nHello.\r\n`;
    await client.append("INBOX", text, [...flags], new Date("2026-11-02T09:00:00Z"));
  }
  return client;
}

/** Returns all mails of all folders, by subject. */
export async function readMailbox(client: ImapFlow): Promise<FoundMail[]> {
  const found: FoundMail[] = [];
  for (const { path: folder } of await client.list()) {
    const { uidValidity, exists } = await client.mailboxOpen(folder, { readOnly: true });
    if (exists === 0) continue;
    for (const mail of await client.fetchAll("1:*", {
      flags: true,
      envelope: true,
      size: true,
      internalDate: true,
    })) {
      const { uid, flags = [], envelope = {}, size, internalDate = "" } = mail;
      const { subject = "", messageId = "" } = envelope;
      const shown = [...flags].filter((flag) => flag !== "\\Recent").toSorted();
      const place = { folder, uidvalidity: Number(uidValidity), uid };
      const received = new Date(internalDate).toISOString();
      const bare = messageId.replace(/[<>]/g, "");
      const id = mailId({ messageId: bare, received, size });
      found.push({ subject, id, messageId: bare, flags: shown, ...place });
    }
  }
  return found.toSorted((one, other) => one.subject.localeCompare(other.subject));
}

/** Returns the folder, flags and keywords of all mails, which an undo restores. */
export async function stateOf(client: ImapFlow): Promise<string[]> {
  const mails = await readMailbox(client);
  return mails.map(({ subject, folder, flags }) => `${subject}: ${folder} ${flags.join(" ")}`);
}

/** Returns a plan with actions for the mails of the INBOX, one after the other. */
export function planFor(
  mails: readonly FoundMail[],
  account: string,
  actions: readonly string[],
): PlanLine[] {
  const inInbox = mails.filter(({ folder }) => folder === "INBOX");
  return inInbox.map(({ subject, id, messageId, folder, uidvalidity, uid }, index) => {
    const [action = "", target = null] = (actions[index % actions.length] ?? "").split(" ");
    return {
      id,
      account,
      folder,
      uidvalidity,
      uid,
      modseq: null,
      messageId: messageId || null,
      from: "ada@example.com",
      subject,
      action: action as PlanLine["action"],
      target,
      rule: `new -> ${action}`,
      evidence: null,
    };
  });
}

/** Returns the text of a plan. */
export function toNdjson(lines: readonly unknown[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}
