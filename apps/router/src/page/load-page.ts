import { readFile } from "node:fs/promises";
import { bundleScript, sourceHash } from "evaluator-kit/bundle-script";
import { html } from "hono/html";

/** The page as it is sent, and what a content security policy must allow for it. */
export interface Page {
  /** The whole document. */
  readonly html: string;
  /** Source expression of its one style element, such as `sha256-…`. */
  readonly styleHash: string;
  /** Source expression of its one script element, such as `sha256-…`. */
  readonly scriptHash: string;
}

/** What the page says of who answers. */
export interface PageNotice {
  /** Who decides and who replies. */
  readonly notice: string;
  /** Whether the emulator does, which no reader should miss. */
  readonly isEmulated: boolean;
  /** Whether feedback is kept, and decisions can be looked at. @default false */
  readonly hasLog?: boolean;
}

/** Puts the page together from the document, the style and the script beside this file. */
export async function loadPage(options: PageNotice): Promise<Page> {
  const [document, style, script] = await Promise.all([
    readFile(new URL("index.html", import.meta.url), "utf8"),
    readFile(new URL("style.css", import.meta.url), "utf8"),
    bundleScript(new URL("script/main.ts", import.meta.url)),
  ]);
  const whole = document
    .replace("/* style.css */", () => style)
    .replace("/* script */", () => script.text);
  return createPage(whole, options);
}

/** Puts the notice into the document as text, and hashes style and script. */
export async function createPage(
  document: string,
  { notice, isEmulated, hasLog = false }: PageNotice,
): Promise<Page> {
  const source = document.replaceAll("\r\n", "\n"); // a browser hashes what it parsed: \n
  const aside = await html`<aside class="${isEmulated ? "banner" : "engine"}">${notice}</aside>`;
  return {
    html: source
      .replace("<!-- engine -->", () => aside)
      .replace("<body>", () => (hasLog ? "<body data-feedback>" : "<body>")),
    styleHash: hashOf(source, "<style>", "</style>"),
    scriptHash: hashOf(source, '<script type="module">', "</script>"),
  };
}

function hashOf(source: string, opening: string, closing: string): string {
  const [, element, ...others] = source.split(opening);
  const end = element?.indexOf(closing) ?? -1;
  if (element === undefined || end === -1 || others.length > 0) {
    throw new Error(`The page has not exactly one ${opening}.`);
  }
  return sourceHash(element.slice(0, end));
}
