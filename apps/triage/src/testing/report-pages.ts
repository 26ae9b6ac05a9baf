import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { openSharedPage, problemsOn } from "evaluator-kit/browser";
import { expect, onTestFinished } from "vitest";
import { recordingTransport, sampleMail, sampleResponse } from "./samples.ts";
import { folderWith, startTriage, stoppedClock } from "./start-triage.ts";

/** What is said of one mail, where it is not of little importance and no scam. */
export interface Said {
  readonly importance?: number;
  readonly scam?: number;
  readonly deal?: number;
  readonly category?: string;
  readonly confidence?: number;
  /** The share of each level of importance, in place of one level. */
  readonly levels?: readonly number[];
}

/** Returns a whole response that says something. */
export function responseWith({
  importance = 0,
  scam = 0,
  deal = 0,
  category,
  confidence = 0.9,
  levels,
}: Said) {
  const given = { category: confidence, importance: 0.9 };
  const { answers, ...rest } = sampleResponse({ importance, confidence: given });
  const { probabilities } = answers.category;
  const picked = category ?? answers.category.choice;
  const shares = Object.keys(probabilities).map((name) => [name, Number(name === picked)]);
  return {
    ...rest,
    answers: {
      ...answers,
      importance: levels === undefined ? answers.importance : scoreOf(levels),
      category: { ...answers.category, choice: picked, probabilities: Object.fromEntries(shares) },
      brand_deal: { type: "boolean", probability: deal },
      scam: { type: "boolean", probability: scam },
    },
  };
}

function scoreOf(levels: readonly number[]) {
  const score = Number(levels.reduce((sum, share, level) => sum + share * level, 0).toFixed(2));
  const probabilities = Object.fromEntries(levels.map((share, level) => [level, share]));
  return { type: "score", score, probabilities };
}

/** Makes a folder with mails and a run about them. */
export async function triaged(mails: readonly object[], said: readonly Said[] = []) {
  const cwd = await folderWith(mails);
  await run(cwd, said);
  return cwd;
}

/** Runs on a folder, on a day. */
export async function run(cwd: string, said: readonly Said[] = [], day = "2026-11-21") {
  const transport = recordingTransport((index) => responseWith(said[index] ?? {}));
  const clock = { ...stoppedClock, epochNow: () => Date.parse(day) };
  return await startTriage(["inbox.json"], { cwd, transport, clock });
}

/** Makes the report of a folder, and returns its path. */
export async function reportOf(cwd: string, ...words: string[]) {
  const { exitCode, stderr } = await startTriage(["report", "inbox.json", ...words], { cwd });
  const path = join(cwd, "inbox.triage.html");
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: `Wrote ${path}\n` });
  return path;
}

/** Returns mails by their subjects. */
export function named(...names: string[]) {
  return names.map((name) => sampleMail({ id: `${name}@example.com`, subject: name }));
}

type Page = Awaited<ReturnType<typeof openSharedPage>>;

const usualLook = { viewport: { width: 1280, height: 900 }, colorScheme: "light" } as const;

/** Opens reports one after the other in the same page: each new one is a process. */
export class ReportPages {
  readonly #pages = new Map<boolean, Page>();

  async close(): Promise<void> {
    await Promise.all([...this.#pages.values()].map((page) => page.close()));
  }

  /** Returns what is wrong with a page at every width, light, dark and on paper. */
  async problemsIn(path: string): Promise<string[]> {
    const { page } = await this.open(path);
    onTestFinished(() => page.setViewportSize(usualLook.viewport));
    for (const first of await page.locator(".mail summary").all()) await first.click();
    return await problemsOn(page);
  }

  /** Opens a page, and returns what it asks for and what its elements say. */
  async open(path: string, { javaScriptEnabled = true } = {}) {
    const page = await this.#page(javaScriptEnabled);
    const requests: string[] = [];
    const onRequest = (request: { url(): string }) => void requests.push(request.url());
    page.on("request", onRequest);
    onTestFinished(() => void page.off("request", onRequest));
    await page.goto(pathToFileURL(path).href);
    const texts = async (selector: string) => {
      const all = await page.locator(selector).allTextContents();
      return all.map((text) => text.replace(/\s+/g, " ").trim());
    };
    return { page, requests, texts };
  }

  async #page(javaScriptEnabled: boolean): Promise<Page> {
    const page = this.#pages.get(javaScriptEnabled) ?? (await openWith(javaScriptEnabled));
    this.#pages.set(javaScriptEnabled, page);
    return page;
  }
}

async function openWith(javaScriptEnabled: boolean): Promise<Page> {
  const page = await openSharedPage();
  if (javaScriptEnabled) {
    await page.setViewportSize(usualLook.viewport);
    await page.emulateMedia({ colorScheme: usualLook.colorScheme });
    return page;
  }
  // The pages of a browser's context all run scripts, or none does.
  const browser = page.context().browser();
  await page.close();
  if (browser === null) throw new Error("The page has no browser.");
  return await browser.newPage({ ...usualLook, javaScriptEnabled });
}
