import { html, type Html, type HtmlValue, page, type PageLink } from "evaluator-kit/page";
import { deciderOf } from "../decision/decide.ts";
import type { Tier } from "../decision/tier-question.ts";
import { linksOf, TOOL } from "../page/load-page.ts";
import type { LoggedRecord } from "./read-records.ts";

interface ReportPage {
  readonly heading: string;
  /** The page that the navigation marks. */
  readonly path: Parameters<typeof linksOf>[0];
  /** Below the heading. */
  readonly about: HtmlValue;
  readonly contents?: readonly PageLink[];
  readonly isEmulated: boolean;
  readonly body: Html;
}

/** Returns a page of the decision log, without a script. */
export function reportPage({ path, about, isEmulated, ...parts }: ReportPage): string {
  return page({
    ...parts,
    tool: TOOL,
    pages: linksOf(path),
    title: `${parts.heading} · Tier router`,
    about: html`<p class="about">${about}</p>
      ${isEmulated ? html`<p class="notice">${EMULATED}</p>` : null}`,
    styles: [new URL("../page/tiers.css", import.meta.url), new URL("report.css", import.meta.url)],
    formsTo: "self",
  });
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
