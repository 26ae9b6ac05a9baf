import { openSharedPage } from "evaluator-kit/browser";
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
  await page.locator("#message:focus").waitFor(); // Chromium logs a line if a test focuses it first
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
