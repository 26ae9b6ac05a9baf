import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { repository } from "../client-build/build-client.ts";
import { timeProgram } from "../process/run-program.ts";
import { printNumber } from "../report/print-number.ts";
import type { SectionResult } from "../report/section.ts";
import type { SectionContext } from "../section.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { writeMbox } from "./write-mbox.ts";

/** Measures the import of a large mbox. */
export async function mboxSection({ scale, tell }: SectionContext): Promise<SectionResult> {
  const mails = scale.mboxMails;
  tell(`mbox, ${mails} mails`);
  await using folder = await temporaryFolder();
  const [source, out] = [join(folder.path, "mail.mbox"), join(folder.path, "mail.json")];
  await writeMbox(source, mails);
  const megabytes = (await stat(source)).size / 2 ** 20;
  const args = ["import", source, out];
  const wallMs = await timeProgram("apps/triage/src/main.ts", { args, cwd: repository });
  await verifyImport(out, mails);
  const seconds = wallMs / 1000;
  const table = {
    title: "Import of an mbox",
    columns: ["mails", "MB", "whole command s", "MB/s", "mails/s"],
    rows: [
      [
        mails.toLocaleString("en"),
        ...[megabytes, seconds, megabytes / seconds, mails / seconds].map(printNumber),
      ],
    ],
  };
  return { tables: [table], data: { mails, megabytes, wallMs } };
}

/**
 * Makes sure that every mail arrived with its text.
 *
 * @throws Error when one is missing or was misread.
 */
async function verifyImport(path: string, mails: number): Promise<void> {
  const records = JSON.parse(await readFile(path, "utf8")) as Record<string, string>[];
  const whole = records.filter(isWhole).length;
  if (whole === mails && records.length === mails) return;
  throw new Error(`${path} holds ${whole} whole mails of ${records.length}, not ${mails}.`);
}

function isWhole({ subject, snippet = "" }: Record<string, string>, index: number): boolean {
  const isTitled = subject === `Security alert ${index}: an app was given accès`;
  return isTitled && snippet.startsWith("Calendar Bridge was given access");
}
