import { readFile } from "node:fs/promises";
import { pageHeader, pageIcon, pageStyle, sourceHash } from "evaluator-kit";
import { bundleScript } from "evaluator-kit/bundle-script";
import { html } from "hono/html";
import type { Services } from "../services/connect-services.ts";

/** The name of the program on its pages. */
export const TOOL = "evaluator-router";

const pageNames = { "/": "Router", "/decisions": "Decisions", "/spend": "Spend" } as const;

/** Returns links to the router's pages, one of them marked; without a log there is only the first. */
export function listLinks(currentPath: keyof typeof pageNames, hasLog = true) {
  const shownEntries = Object.entries(pageNames).filter(([pagePath]) => hasLog || pagePath === "/");
  return shownEntries.map(([href, name]) => ({ href, name, isCurrent: href === currentPath }));
}

/** With `hasLog`, the page has feedback and the link to `/decisions`. */
type PageFacts = Pick<Services, "notice" | "isEmulated"> & { readonly hasLog?: boolean };

/** Builds the page; by default, from the document, the style and the script beside this file. */
export async function loadPage(pageFacts: PageFacts, document = readDocument()) {
  const { notice, isEmulated, hasLog = false } = pageFacts;
  const pageSource = (await document).replaceAll("\r\n", "\n"); // a browser hashes the parsed text
  const aside = await html`<aside class="${isEmulated ? "banner" : "engine"}">${notice}</aside>`;
  return {
    html: pageSource
      .replace("<!-- icon -->", () => pageIcon().toString())
      .replace("<!-- header -->", () => pageHeader(TOOL, listLinks("/", hasLog)).toString())
      .replace("<!-- engine -->", () => aside)
      .replace("<body>", () => (hasLog ? "<body data-feedback>" : "<body>")),
    styleHash: toStyleHash(pageSource),
    scriptHash: toHash(pageSource, '<script type="module">', "</script>"),
  };
}

async function readDocument(): Promise<string> {
  const [document, script] = await Promise.all([
    readFile(new URL("index.html", import.meta.url), "utf8"),
    bundleScript(new URL("script/main.ts", import.meta.url)),
  ]);
  const sheets = [new URL("tiers.css", import.meta.url), new URL("style.css", import.meta.url)];
  return document
    .replace("/* style */", () => pageStyle(sheets))
    .replace("/* script */", () => script);
}

/** Returns the hash of a page's one style. */
export function toStyleHash(source: string): string {
  return toHash(source, "<style>", "</style>");
}

function toHash(pageSource: string, opening: string, closing: string): string {
  const [, elementText = "", ...others] = pageSource.split(opening);
  const end = elementText.indexOf(closing);
  if (end === -1 || others.length > 0) throw new Error(`The page has not exactly one ${opening}.`);
  return sourceHash(elementText.slice(0, end));
}
