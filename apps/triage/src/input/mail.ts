import type { RunRecord } from "evaluator-runs/source";
import type { Mail, MailSource } from "./mail-schema.ts";

/** The part of a mail that a journal keeps beside the state: its place, its headers, and the time it was received. */
type MailNote = MailSource & Pick<Mail, "received" | "headers">;

const noMail = { date: "", from: "", subject: "", snippet: "" };

/** Returns the mail of a record: its state has all of it but the id and the note. */
export function mailOfRecord({ id, state, source }: RunRecord): Mail {
  // A journal may know of a mail without an answer only that there was one.
  const mail = { ...noMail, ...(state as Omit<Mail, "id">), id };
  if (source === null) return mail;
  const { received: receivedTime, headers, ...place } = source as MailNote;
  const isKnown = Object.keys(place).length > 0;
  return { ...mail, received: receivedTime, headers, source: isKnown ? place : undefined };
}

/** Returns whether a mail has nothing to ask about: no sender, no subject and no text. */
export function isEmptyMail({ from, subject, snippet }: Mail): boolean {
  return !/[^\s\p{Default_Ignorable_Code_Point}\u2800]/u.test(from + subject + snippet);
}

type MailDays = Pick<Mail, "date" | "received">;

/** Returns the day a mail was received, in UTC; the sender's day if that is not known. */
export function receivedDay({ date, received: receivedTime }: MailDays): string {
  return receivedTime?.slice(0, 10) ?? date;
}

const MS_PER_DAY = 86_400_000;
/** Zones and slow servers explain a difference of so many days. */
const USUAL_DAYS = 2;

/** Returns how far a mail's date is from the day it was received, in words; empty if it is near. */
export function describeDateGap(mail: MailDays): string {
  const day = receivedDay(mail);
  if (day === mail.date) return "";
  const ahead = (Date.parse(mail.date) - Date.parse(day)) / MS_PER_DAY;
  const days = Math.abs(ahead);
  if (!(days > USUAL_DAYS)) return "";
  const gap = days < 731 ? `${days} days` : `${Math.floor(days / 365.25)} years`;
  return `dated ${gap} ${ahead > 0 ? "ahead" : "behind"}`;
}

/** Returns the address in a sender such as `Ada <ada@example.com>`, in lower case; null when there is none. */
export function senderAddress(from: string): string | null {
  return addressesIn(from).at(-1) ?? null;
}

/** Returns every address in a text, in lower case. */
export function addressesIn(text: string): string[] {
  // Cut into words first: a pattern for a whole address begins anew at each character of a word.
  return text
    .split(/[\s<>"'(),:;=[\]]/u)
    .filter((word) => word.indexOf("@", 1) > 0 && word.lastIndexOf("@", word.length - 2) > 0)
    .map((address) => address.toLowerCase().replace(/\.$/, ""));
}

/** Returns the domain that one organisation has: `example.co.uk` of `mx.example.co.uk`. */
export function toOrganisation(domain: string): string {
  const labels = domain.toLowerCase().split(".");
  const isShared = /(?:^|\.)(?:ac|co|com|edu|go|gov|ne|net|or|org)\.[a-z]{2}$/.test(
    domain.toLowerCase(),
  );
  return labels.slice(isShared ? -3 : -2).join(".");
}

/** Returns the day of an instant in the program's time zone, `YYYY-MM-DD`. */
export function localDay(date: Date): string {
  const [year, month, day] = [date.getFullYear(), date.getMonth() + 1, date.getDate()];
  return [year, month, day].map((part) => String(part).padStart(2, "0")).join("-");
}
