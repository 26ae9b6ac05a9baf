import { readFile } from "node:fs/promises";
import { html, type Html, page } from "evaluator-kit/page";
import { deciderOf } from "../decision/decide.ts";
import type { Tier } from "../decision/tier-question.ts";
import type { LoggedRecord } from "./read-records.ts";

const pages = { "/": "Router", "/decisions": "Decisions", "/spend": "Spend" } as const;

interface ReportPage {
  readonly title: string;
  /** The page that the navigation marks. */
  readonly path: keyof typeof pages;
  /** Below the title. */
  readonly about: string;
  readonly isEmulated: boolean;
  readonly content: Html;
}

/** Returns a page of the decision log, in the style of the router's page and without a script. */
export async function reportPage({ path, content, ...top }: ReportPage): Promise<string> {
  const { title, about, isEmulated } = top;
  const links = Object.entries(pages).map(([address, name]) => {
    const current = address === path ? html` aria-current="page"` : null;
    return html`<a href="${address}" ${current}>${name}</a> `;
  });
  const body = html`<div class="column">
    <header>
      <nav class="pages" aria-label="Pages">${links}</nav>
      <h1>${title}</h1>
      <p class="tagline">${about}</p>
      ${isEmulated ? html`<p class="banner">${EMULATED}</p>` : null}
    </header>
    <main class="stack">${content}</main>
  </div>`;
  return page({ title: `${title} · Tier router`, style: await style(), body, formsTo: "self" });
}

async function style(): Promise<string> {
  const files = ["../page/style.css", "report.css"].map((name) => new URL(name, import.meta.url));
  return (await Promise.all(files.map((file) => readFile(file, "utf8")))).join("");
}

const EMULATED = "The local emulator made answers of this page, not a model.";

/** Whether the emulator decided or replied. */
export function isOfEmulator({ evaluatorModelId, wire, upstream }: LoggedRecord): boolean {
  return upstream === "emulator" || deciderOf(evaluatorModelId, wire).isEmulated === true;
}

/** Returns a tier in its colour. */
export function tierBadge(tier: Tier | null): Html {
  return tier === null ? html`none` : html`<span class="badge" data-tier="${tier}">${tier}</span>`;
}

/** Returns a time of the log for a person. */
export function timeText(time: string): Html {
  return html`<time datetime="${time}">${time.slice(0, 19).replace("T", " ")}</time>`;
}
