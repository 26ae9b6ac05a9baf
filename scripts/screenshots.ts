// Makes the pictures of the README from the programs as they run, on the emulator's answers.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdtempDisposable, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { launchBrowser } from "evaluator-kit/browser";

const root = dirname(import.meta.dirname);
const { scripts } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as {
  scripts: Record<string, string>;
};
await using folder = await mkdtempDisposable(join(tmpdir(), "screenshots-"));
await using browser = await launchBrowser();
await pictureRouter();
await pictureReport();

/** The router's page with an answer, as a person sees it. */
async function pictureRouter(): Promise<void> {
  const router = start("start", [], { PORT: "0", ROUTER_ACCESS_LOG: "off" });
  try {
    const [line] = (await once(createInterface(router.stdout), "line")) as [string];
    const page = await open(/http:\S+/.exec(line)?.[0] ?? "");
    await page.getByLabel("Message").fill("Write a function that merges overlapping date ranges.");
    await page.keyboard.press("Enter");
    await page.getByRole("article").locator(".pending").waitFor({ state: "detached" });
    // The bars grow: the picture is of their ends.
    await page.screenshot({ path: join(root, "docs/router.png"), animations: "disabled" });
  } finally {
    router.kill("SIGTERM");
    await once(router, "exit");
  }
}

/** The report of a triage over the mails of the fixtures, a third of them new: wide, and on a phone. */
async function pictureReport(): Promise<void> {
  const inbox = join(folder.path, "inbox.json");
  await copyFile(join(root, "fixtures/mail/inbox.json"), inbox);
  await finish(start("triage", [inbox, "--offline", "--limit", "28"]));
  await finish(start("triage", [inbox, "--offline"]));
  await finish(start("triage", ["report", inbox]));
  const url = pathToFileURL(join(folder.path, "inbox.triage.html")).href;
  const page = await open(url);
  await page.screenshot({ path: join(root, "docs/triage-report.png") });
  const phone = await open(url, { width: 380, height: 780 });
  await phone.screenshot({ path: join(root, "docs/triage-phone.png") });
}

async function open(url: string, viewport = { width: 960, height: 860 }) {
  const page = await browser.newPage({ viewport });
  await page.goto(url);
  return page;
}

/** Starts the program of a script of the root's package.json. */
function start(script: string, words: readonly string[], env: Record<string, string> = {}) {
  const PATH = process.env["PATH"] ?? "";
  const [, ...command] = scripts[script]?.split(" ") ?? [];
  return spawn(process.execPath, [...command, ...words], {
    cwd: root,
    env: { PATH, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
}

async function finish(program: ChildProcess): Promise<void> {
  program.stdout?.resume();
  const [code] = (await once(program, "exit")) as [number | null];
  if (code !== 0) throw new Error(`A program ended with ${code}.`);
}
