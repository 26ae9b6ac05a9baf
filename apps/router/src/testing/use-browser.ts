import axe from "axe-core";
import { launchBrowser } from "evaluator-fixtures/browser";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { defaultTierModels } from "../options/environment-schema.ts";
import { startTestRouter } from "./test-router.ts";
import type { Differences } from "./upstreams.ts";

/** What a test wants of its page. */
interface PageWishes {
  readonly width?: number;
  readonly colorScheme?: BrowserContextOptions["colorScheme"];
  readonly env?: Record<string, string>;
  readonly parts?: Parameters<typeof startTestRouter>[1];
}

const prices = new Map([
  [defaultTierModels.nano, { inputUsdPerMillionTokens: 0.05, outputUsdPerMillionTokens: 0.4 }],
  [defaultTierModels.frontier, { inputUsdPerMillionTokens: 10, outputUsdPerMillionTokens: 50 }],
]);

/** A browser for the tests of one file; gives a function that opens the page of a new router. */
export function useBrowser() {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());

  /** Opens the page, and keeps what must not happen on it. */
  return async function open(differences: Differences = {}, wishes: PageWishes = {}) {
    const { width = 1280, colorScheme = "light", env = {}, parts } = wishes;
    const router = await startTestRouter(differences, { env, prices, ...parts });
    const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme });
    const page = await context.newPage();
    onTestFinished(async () => {
      router.keep(await page.content());
      await context.close();
    });
    const problems = problemsOf(page, router.origin);
    await page.goto(router.origin);
    return { page, problems, router };
  };
}

/** Lines on the console, errors, and requests to anywhere else. */
function problemsOf(page: Page, ownOrigin: string): string[] {
  const problems: string[] = [];
  page.on("console", (line) => problems.push(`${line.type()}: ${line.text()}`));
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (origin !== ownOrigin && protocol !== "data:") problems.push(request.url());
  });
  return problems;
}

/** Sends a message from the page, and gives its card once nothing more comes. */
export async function send(page: Page, message: string) {
  await page.getByLabel("Message").fill(message);
  await page.keyboard.press("Enter");
  const answer = page.getByRole("article").first();
  await answer.locator(".pending").waitFor({ state: "detached" });
  return answer;
}

/** What a checker of accessibility finds on the page as it is shown now. */
export async function violationsOn(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<axe.AxeResults>("axe.run()");
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}
