import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "evaluator-kit/testing";
import type { CommandOutcome } from "evaluator-runs/testing";
import type { Mail } from "../input/mail-schema.ts";
import { mailsOf } from "./samples.ts";
import { startTriage } from "./start-triage.ts";

/** A header that every mail needs. */
export const dateHeader = "Date: Mon, 02 Nov 2026 09:00:00 +0000";

/** What an import came to. */
export interface ImportOutcome extends CommandOutcome {
  readonly cwd: string;
  /** The records made, or null when nothing was written. */
  readonly mails: Mail[] | null;
}

/** Makes an mbox file of messages. */
export function mbox(...messages: string[]): string {
  return messages
    .map((message) => `From ada@example.com Mon Nov  2 09:00:00 2026\n${message}\n\n`)
    .join("");
}

/** Imports files from a folder of their own: the first of them, or the source named. */
export async function importOf(
  files: Record<string, string | Uint8Array>,
  ...words: string[]
): Promise<ImportOutcome> {
  const cwd = await temporaryFolder();
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(cwd, name, ".."), { recursive: true });
    await writeFile(join(cwd, name), content);
  }
  const [source = Object.keys(files)[0] ?? "", ...flags] = words;
  const outcome = await startTriage(["import", source, "inbox.json", ...flags], { cwd });
  if (outcome.exitCode === 1) return { ...outcome, cwd, mails: null };
  return { ...outcome, cwd, mails: await mailsOf(join(cwd, "inbox.json")) };
}

/** Imports an mbox of one message, and gives its record. */
export async function importedMail(message: string): Promise<Mail | undefined> {
  const { mails } = await importOf({ "a.mbox": mbox(message) });
  return mails?.[0];
}
