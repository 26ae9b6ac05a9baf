import { readFile, writeFile } from "node:fs/promises";
import { mailState } from "../exchange/mail-state.ts";

/** Writes an input file of that many mails. */
export async function writeInbox(path: string, mails: number): Promise<void> {
  const records = Array.from({ length: mails }, (_, index) => ({
    id: `mail-${index}`,
    ...mailState(index),
  }));
  await writeFile(path, JSON.stringify(records));
}

/**
 * Makes sure that the results of every mail are on disk.
 *
 * @throws Error when a record is missing or holds another answer than the server gave.
 */
export async function verifyResults(path: string, mails: number): Promise<void> {
  const records = JSON.parse(await readFile(path, "utf8")) as Record<string, unknown>[];
  const whole = records.filter(isWhole).length;
  if (whole === mails && records.length === mails) return;
  throw new Error(`${path} holds ${whole} whole records of ${records.length}, not ${mails}.`);
}

function isWhole({ id, category, scam }: Record<string, unknown>, index: number): boolean {
  return id === `mail-${index}` && category === "security_alert" && scam === 0.31;
}
