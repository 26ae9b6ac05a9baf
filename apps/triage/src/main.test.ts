import { execFile } from "node:child_process";
import { once } from "node:events";
import { copyFile, readdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { compileCache, temporaryFolder } from "evaluator-kit/testing";
import { expect, onTestFinished, test } from "vitest";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const inbox = join(root, "fixtures/mail/inbox.json");

async function folderWithInbox(): Promise<string> {
  const folder = await temporaryFolder();
  await copyFile(inbox, join(folder, "inbox.json"));
  return folder;
}

// As npm does it: the program runs in the repository, the person stands elsewhere.
function runProgram(argv: readonly string[], env: { INIT_CWD: string; [name: string]: string }) {
  const program = ["apps/triage/src/main.ts", ...argv];
  return promisify(execFile)(process.execPath, program, {
    cwd: root,
    env: { ...compileCache, ...env },
  });
}

test("the whole inbox is triaged offline, from the folder the person stands in", async () => {
  const folder = await folderWithInbox();
  const { stdout, stderr } = await runProgram(["inbox.json", "--offline"], { INIT_CWD: folder });

  const mails: { id: string }[] = JSON.parse(await readFile(inbox, "utf8"));
  const results: { id: string; importance: number }[] = JSON.parse(
    await readFile(join(folder, "inbox.triage.json"), "utf8"),
  );
  expect(results.map(({ id }) => id)).toEqual(mails.map(({ id }) => id));
  expect(stderr).toContain("the local emulator answers");

  const [header, ...rows] = stdout.trimEnd().split("\n");
  expect(header?.split(/ +/)).toEqual("imp conf scam deal category date from subject".split(" "));
  const printed = rows.map((row) => Number(row.slice(0, 4)));
  expect(printed).toEqual(results.map(({ importance }) => importance).toSorted((a, b) => b - a));
});

test("the exit code of a failed run is the program's", async () => {
  const folder = await temporaryFolder();
  await expect(runProgram(["inbox.json"], { INIT_CWD: folder })).rejects.toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining(`Cannot read ${folder}/inbox.json`),
  });
});

test("a second Ctrl-C leaves at once, with 130 and no results", async () => {
  const folder = await folderWithInbox();
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const run = runProgram(["inbox.json"], {
    INIT_CWD: folder,
    AI_GATEWAY_API_KEY: "any",
    EVALUATOR_BASE_URL: `http://127.0.0.1:${portOf(server)}/v4/ai`,
  });
  server.once("request", () => {
    run.child.kill("SIGINT");
    run.child.stderr?.on(
      "data",
      (text) => String(text).includes("again") && run.child.kill("SIGINT"),
    );
  });
  await expect(run).rejects.toMatchObject({ code: 130, stdout: "" });
  expect(await readdir(folder)).not.toContain("inbox.triage.json");
});

function portOf(server: ReturnType<typeof createServer>): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}
