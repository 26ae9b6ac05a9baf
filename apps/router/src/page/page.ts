import { createHash } from "node:crypto";
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

/** Puts the banner, when there is one, into the document as text, and hashes style and script. */
export async function createPage(
  document: string,
  { banner }: { banner: string | null },
): Promise<Page> {
  const source = document.replaceAll("\r\n", "\n"); // a browser hashes what it parsed: \n
  const aside = banner === null ? "" : await html`<aside class="banner">${banner}</aside>`;
  return {
    html: source.replace("<!-- banner -->", () => aside),
    styleHash: hashOf(source, /<style>(.*?)<\/style>/gs),
    scriptHash: hashOf(source, /<script type="module">(.*?)<\/script>/gs),
  };
}

function hashOf(source: string, element: RegExp): string {
  const [match, ...others] = source.matchAll(element);
  if (match?.[1] === undefined || others.length > 0) {
    throw new Error(`The page has not exactly one ${element.source}.`);
  }
  return `sha256-${createHash("sha256").update(match[1]).digest("base64")}`;
}
