import { openSharedPage, violationsOn } from "evaluator-kit/browser";
import type { Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { defaultTierModels } from "../router-options.ts";
import { startTestRouter } from "./test-router.ts";
import type { Differences } from "./upstreams.ts";

/** What a test wants of its page. */
interface PageOptions {
  readonly env?: Record<string, string>;
  readonly parts?: Parameters<typeof startTestRouter>[1];
}

const prices = new Map([
  [defaultTierModels.nano, { inputUsdPerMillionTokens: 0.05, outputUsdPerMillionTokens: 0.4 }],
  [defaultTierModels.frontier, { inputUsdPerMillionTokens: 10, outputUsdPerMillionTokens: 50 }],
]);

/** Opens the page of a new router, and keeps what must not happen on it. */
export async function openPage(differences: Differences = {}, options: PageOptions = {}) {
  const { env = {}, parts } = options;
  const router = await startTestRouter(differences, { env, prices, ...parts });
  const page = await openSharedPage();
  onTestFinished(async () => {
    router.keep(await page.evaluate(documentNow));
    await page.close();
  });
  const problems = problemsOf(page, router.origin);
  await page.goto(router.origin); // with a port of its own it has a storage of its own
  return { page, problems, router };
}

/** The document without its sources, which are kept as the router sent them. */
const documentNow = `(() => {
  const now = document.documentElement.cloneNode(true);
  for (const source of now.querySelectorAll("script, style")) source.remove();
  return now.outerHTML;
})()`;

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

/** Sends a message from the page, and returns its card once nothing more comes. */
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
      // A colour on its way to another is none that anybody is to read.
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await page.evaluate("Promise.all(document.getAnimations().map(({ finished }) => finished))");
      const isWide = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
      const isShown = await page.evaluate(isShownInOtherColors);
      const violations = await violationsOn(page, isShown === true ? colorRules : {});
      const all = isWide === true ? ["wider than the window", ...violations] : violations;
      found.push(...all.map((each) => `${width} pixels, ${colorScheme}: ${each}`));
    }
  }
  return found;
}

/** The rules that a page in other colours can break while everything else about it is the same. */
const colorRules = { runOnly: ["color-contrast", "link-in-text-block"] };

/**
 * Whether the look before was the same but for colours: the document, and of every element where it
 * is, how large, and how far it is shown.
 */
const isShownInOtherColors = `(() => {
  const places = Array.from(document.querySelectorAll("*"), (element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    const { display, visibility, opacity, font } = getComputedStyle(element);
    return [x, y, width, height, display, visibility, opacity, font];
  });
  const before = globalThis.lookBefore;
  globalThis.lookBefore = document.documentElement.outerHTML + places.join();
  return globalThis.lookBefore === before;
})()`;
