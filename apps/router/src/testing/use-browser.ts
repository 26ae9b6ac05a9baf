import axe from "axe-core";
import { launchBrowser } from "evaluator-fixtures/browser";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { defaultTierModels } from "../options/environment-schema.ts";
import { startTestRouter } from "./test-router.ts";
import type { Differences } from "./upstreams.ts";

/** What a test wants of its page. */
interface PageWishes {
  readonly width?: number;
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
    const { width = 1280, env = {}, parts } = wishes;
    const router = await startTestRouter(differences, { env, prices, ...parts });
    const context = await browser.newContext({ viewport: { width, height: 800 } });
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

/** Shows a page at three widths, each light and dark, and returns what is wrong with it there. */
export async function violationsInEveryLook(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const width of [380, 768, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      // A colour on its way to another is none that anybody is to read.
      await page.evaluate("Promise.all(document.getAnimations().map(({ finished }) => finished))");
      const isWide = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
      const violations = await violationsOn(page);
      const all = isWide === true ? ["wider than the window", ...violations] : violations;
      found.push(...all.map((each) => `${width} pixels, ${colorScheme}: ${each}`));
    }
  }
  return found;
}

/** What a checker of accessibility finds on the page as it is shown now. */
async function violationsOn(page: Page): Promise<string[]> {
  if ((await page.evaluate("typeof axe")) === "undefined") await page.evaluate(axe.source);
  const { violations } = await page.evaluate<axe.AxeResults>(
    "axe.run({ resultTypes: ['violations'] })",
  );
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}
