import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "evaluator-kit/testing";
import { run as runWords } from "./run.ts";

const questions = {
  refund: { type: "boolean", instructions: "Does the customer ask for a refund?" },
};

/** Three tickets in CSV. */
export const tickets = `id,subject,body
t-1,Refund,"Give me my ""money"",
please"
t-2,Crash,The app crashes
t-3,Hello,
`;

/** Returns a folder with files, and `q.json` with one question. */
export async function folderOf(
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<string> {
  const folder = await temporaryFolder();
  const all = { "q.json": JSON.stringify(questions), ...files };
  for (const [name, content] of Object.entries(all)) await writeFile(join(folder, name), content);
  return folder;
}

type Given = Parameters<typeof runWords>[2];

/** Runs over a file with the emulator in this process. */
export async function runTable(cwd: string, words: readonly string[], given?: Given) {
  return await runWords(cwd, ["run", ...words, "--questions", "q.json", "--offline"], given);
}
