import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "evaluator-kit/testing";
import type { HoodiecrowFolder } from "hoodiecrow-imap";
import type { PlanLine } from "../mailbox/plan-line.ts";
import { imapEnv as env, startHoodiecrow } from "./start-hoodiecrow.ts";
import { startTriage } from "./start-triage.ts";

/** The name of the plan. */
export const PLAN = "inbox.plan.ndjson";

/** Returns a folder of mails whose ids are letters. */
export function mailsOf(letters: string, flags: Record<string, string[]> = {}): HoodiecrowFolder {
  const messages = letters.split("").map((id) => ({
    raw: `Message-ID: <${id}@example.com>\r\nSubject: ${id}\r\n\r\nHello.`,
    flags: flags[id] ?? [],
    internaldate: "02-Nov-2026 09:00:00 +0000",
  }));
  return { messages, uidvalidity: 7 };
}

const folders = {
  Archive: { "special-use": "\\Archive" },
  Spam: { "special-use": "\\Junk" },
  Work: {},
};

interface Setup extends NonNullable<Parameters<typeof startHoodiecrow>[1]> {
  readonly inbox?: HoodiecrowFolder;
}

/** Starts a server with the mails a to f, and writes a plan with an action for each named one. */
export async function serverWithPlan(
  actions: Record<string, string>,
  { inbox, ...given }: Setup = {},
) {
  const options = { folders: structuredClone(folders), ...given };
  const { server, account } = await startHoodiecrow(inbox ?? mailsOf("abcdef"), options);
  const lines = Object.entries(actions).map(([id, action]): PlanLine => {
    const [word, target = null] = action.split(" ");
    return {
      id,
      account,
      folder: "INBOX",
      uidvalidity: 7,
      uid: "abcdef".indexOf(id) + 1,
      modseq: null,
      messageId: `${id}@example.com`,
      from: "ada@example.com",
      subject: id,
      action: word as PlanLine["action"],
      target,
      rule: `scam >= 0.9 -> ${action}`,
      evidence: { threshold: 0.9 },
    };
  });
  const cwd = await temporaryFolder();
  const write = async (changed: readonly unknown[]) => {
    await writeFile(join(cwd, PLAN), changed.map((line) => `${JSON.stringify(line)}\n`).join(""));
  };
  await write(lines);
  const run = (...words: string[]) => startTriage(words, { cwd, env });
  /** Returns the mails of each folder that has some, with their flags. */
  const state = () => {
    const all = ["INBOX", ...Object.keys(options.folders)].map((path) => {
      const mails = server.getMailbox(path)?.messages ?? [];
      const shown = mails.map(({ raw, flags = [] }) => {
        return [/Subject: (.*)/.exec(raw)?.[1], ...flags].join(" ");
      });
      return [path, shown.toSorted().join(", ")];
    });
    return Object.fromEntries(all.filter(([, mails]) => mails !== "")) as Record<string, string>;
  };
  return { server, cwd, lines, write, run, state };
}
