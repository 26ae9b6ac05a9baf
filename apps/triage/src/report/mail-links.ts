import type { Mail } from "../input/mail-schema.ts";
import { senderAddress } from "../input/mail.ts";
import { accountName } from "../mailbox/mailbox-url.ts";

/** The programs that can show a mail, for `--open`. */
export const mailPrograms = ["gmail", "outlook", "message", "mid"] as const;
type MailProgram = (typeof mailPrograms)[number];

interface MailLink {
  readonly href: string;
  readonly program: string;
}

/** Returns the link to a mail in a program, by default that of its account's host; null if there is none. */
export function linkTo(mail: Mail, program: MailProgram | null): MailLink | null {
  const chosenProgram = program ?? usualProgram(mail);
  const messageId = findMessageId(mail);
  if (chosenProgram === "gmail") return gmailLink(mail, messageId);
  if (chosenProgram === null || messageId === null) return null;
  const [plainText, bracketedText] = [
    encodeURIComponent(messageId),
    encodeURIComponent(`<${messageId}>`),
  ];
  return {
    outlook: { href: outlookAddress + outlookSearch(mail), program: "Outlook's search" },
    message: { href: `message://${bracketedText}`, program: "Apple Mail" },
    mid: { href: `mid:${plainText}`, program: "the mail program" },
  }[chosenProgram];
}

// Not documented. Its search has no word for a Message-ID.
const outlookAddress = "https://outlook.office.com/mail/deeplink/search?query=";

function outlookSearch({ from, subject }: Mail): string {
  const searchWords = `from:${senderAddress(from) ?? ""} subject:"${subject.replaceAll('"', " ")}"`;
  return encodeURIComponent(searchWords.toWellFormed());
}

const programHosts: readonly (readonly [RegExp, MailProgram])[] = [
  [/[@.](?:gmail|googlemail)\.com$/i, "gmail"],
  [/[@.](?:outlook|office365|hotmail|live)\.com$/i, "outlook"],
  [/[@.](?:icloud|me|mac)\.com$/i, "message"],
];

function usualProgram({ source }: Mail): MailProgram | null {
  const account = findAccount(source);
  if (account !== null)
    return programHosts.find(([hostPattern]) => hostPattern.test(account))?.[1] ?? "mid";
  // Without a source only the form of the id can name Gmail.
  return source === undefined || source.gmail === true ? "gmail" : null;
}

function findAccount(source: Mail["source"]): string | null {
  return source?.account === undefined ? null : accountName(source.account);
}

function gmailLink({ id, source }: Mail, messageId: string | null): MailLink | null {
  const account = findAccount(source)?.replace(/@imap\.(?:gmail|googlemail)\.com$/i, "");
  const userPath = account === undefined ? "" : `u/?authuser=${encodeURIComponent(account)}`;
  const baseAddress = `https://mail.google.com/mail/${userPath}`;
  if (/^[0-9a-f]{16}$/.test(id)) return { href: `${baseAddress}#all/${id}`, program: "Gmail" };
  if (messageId === null) return null;
  const searchText = encodeURIComponent(`rfc822msgid:${messageId}`);
  return { href: `${baseAddress}#search/${searchText}`, program: "Gmail" };
}

function findMessageId({ id, headers }: Mail): string | null {
  // A second mail with the same id has a number behind it.
  const mailId = (headers?.messageId ?? id.replace(/#\d{1,9}$/, "")).toWellFormed();
  return /^[^\s@<>]{1,400}@[^\s@<>]{1,400}$/.test(mailId) ? mailId : null;
}
