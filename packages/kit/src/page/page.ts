import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import { html, type Html, type HtmlValue, trusted } from "./html.ts";

/** A link in a page's navigation. */
export interface PageLink {
  readonly href: string;
  readonly name: string;
  /** @default false */
  readonly isCurrent?: boolean;
  /** Shown behind the name. @default none */
  readonly count?: string | undefined;
}

/** The parts of a page. */
interface PageParts {
  /** The tool's name. */
  readonly tool: string;
  /** This page and those beside it; without any there is no navigation. */
  readonly pages: readonly PageLink[];
  /** The heading; also the title unless that is given. */
  readonly heading: string;
  readonly title?: string;
  /** Below the heading. */
  readonly about?: HtmlValue;
  /** Links to the parts of a page that is longer than two screens; a single one is left out. */
  readonly contents?: readonly PageLink[];
  /** The rest of `<main>`. */
  readonly body: Html;
  readonly footer?: HtmlValue;
  /** The page's own style sheets, behind the common style. @default none */
  readonly styles?: readonly URL[];
  /** The one allowed script. @default none */
  readonly script?: string;
  /** Where its forms and its script may send; without a script it has none. @default "none" */
  readonly formsTo?: "none" | "self";
  /** Data for the script, behind the rest. */
  readonly data?: Html;
}

/** The end of a body; text from outside cannot contain it, because "<" is escaped. */
const END = "<!-- the end of the body -->";

/** Returns a page as one file that fetches nothing and runs only its script. */
export function page(parts: PageParts): string {
  return pageAround(parts).join("");
}

/** Returns the parts before and after a large body, such as data that is streamed. */
export function pageAround({
  heading,
  title = heading,
  about = null,
  contents = [],
  body,
  footer = null,
  styles,
  script,
  formsTo = "none",
  ...parts
}: PageParts): readonly [before: string, after: string] {
  const runs =
    script === undefined
      ? ""
      : `; script-src '${sourceHash(script)}'; base-uri 'none'; form-action '${formsTo}'; connect-src '${formsTo}'`;
  const all = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta
          http-equiv="Content-Security-Policy"
          content="${trusted(`default-src 'none'; style-src 'unsafe-inline'; img-src data:${runs}`)}"
        />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        ${pageIcon()}
        <style>
          ${trusted(pageStyle(styles))}
        </style>
      </head>
      <body>
        ${pageHeader(parts.tool, parts.pages)}
        <main>
          <div class="title">
            <h1>${heading}</h1>
            ${about}
          </div>
          ${contents.length < 2 ? null : listLinks("Contents", contents)} ${body}
        </main>
        ${footer === null ? null : html`<footer>${footer}</footer>`}
        ${parts.data ?? null}${trusted(END)}
      </body>
    </html> `;
  // A number and its "%" are on one line; not in attributes and data, which end in a quote. Texts are found
  // first: a look at the end of its text for each "%" would take the square of a long text's time.
  const joinedText = all
    .toString()
    .replaceAll(/(?<=[<>"])[^<>"]+(?=<)/g, (text) => text.replaceAll(/(?<=\d) %/g, "\u00A0%"));
  const [before = "", after = ""] = joinedText.split(END);
  // In one piece: the hash covers all text between the tags.
  const element = script === undefined ? "" : `<script>${script}</script>`;
  return [before, element + after];
}

const sheets = new Map<string, string>();

/** Returns the common style, and a page's own style sheets behind it. */
export function pageStyle(own: readonly URL[] = []): string {
  const common = [new URL("tokens.css", import.meta.url), new URL("pieces.css", import.meta.url)];
  return [...common, ...own].map(({ href }) => sheets.get(href) ?? readSheet(href)).join("");
}

function readSheet(href: string): string {
  const text = readFileSync(new URL(href), "utf8").replaceAll("\r\n", "\n");
  sheets.set(href, text);
  return text;
}

const MARK = "M1.5 8H6l4-4.5h4.5M6 8l4 4.5h4.5";

/** Returns the icon of every page as a part of it. */
export function pageIcon(): Html {
  const svg = iconSvg().replaceAll(/[#<>]/g, encodeURIComponent);
  return html`<link rel="icon" href="${trusted(`data:image/svg+xml,${svg}`)}" />`;
}

/** Returns the answer to `/favicon.ico`, which browsers request for an answer that is no page, such as JSON. */
export function iconFile() {
  const headers = { "Content-Type": "image/svg+xml", "Cache-Control": "max-age=86400" };
  return [iconSvg(), 200, headers] as const;
}

/** A picture knows no custom properties of a page, so it has the light colour. */
function iconSvg(): string {
  const [, colour = ""] = /--balanced: light-dark\(#(\w+)/.exec(pageStyle()) ?? [];
  const stroke = `fill='none' stroke='#${colour}' stroke-width='1.75' stroke-linecap='round'`;
  return `<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><path ${stroke} d='${MARK}'/></svg>`;
}

/** Returns the header of every page: the tool's name, and links to the pages beside. */
export function pageHeader(tool: string, pages: readonly PageLink[]): Html {
  return html`<header>
    <span class="tool">
      <svg viewBox="0 0 16 16" fill="none" aria-hidden="true">
        <path
          d="${MARK}"
          stroke="currentColor"
          stroke-width="1.75"
          stroke-linecap="round"
          stroke-linejoin="round"
        />
      </svg>
      ${tool}
    </span>
    ${pages.length === 0 ? null : listLinks("Pages", pages)}
  </header>`;
}

function listLinks(label: "Pages" | "Contents", links: readonly PageLink[]): Html {
  const all = links.map(({ href, name, isCurrent = false, count }) => {
    const current = isCurrent ? html` aria-current="page"` : null;
    return html`<a href="${href}" ${current}
      >${name}${count === undefined ? null : html` <b>${count}</b>`}</a
    > `;
  });
  return html`<nav class="${label.toLowerCase()}" aria-label="${label}">${all}</nav>`;
}

/** Returns the hash of a script or style for a page's policy, such as `sha256-…`. */
export function sourceHash(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

// A number with its unit, its interval and a sign of a verdict, or an interval; "2026-11-02" is none.
const NUMBER =
  /^[✓✗<≥≈~$+−-]*\s?[\d.,]*\d(?:\s?(?:%|ms|s))?(?:\s\(.*\)|\sto\s[\d.,]*\d(?:\s?%)?)?$/;

/**
 * Returns a table that scrolls if it must: its name, its head, and rows that begin with their name. Numbers
 * are at the right, and so is a column that has mostly numbers.
 */
export function table(
  name: string,
  head: readonly string[],
  rows: readonly (readonly HtmlValue[])[],
): Html {
  const areNumbers = head.map((_, at) => {
    const numbers = rows.filter((row) => isNumber(row[at])).length;
    return at > 0 && numbers > 0 && 2 * numbers >= rows.length;
  });
  const toClass = (at: number, cell: HtmlValue = "") => {
    if (at > 0 && (areNumbers[at] === true || isNumber(cell))) return html`class="number"`;
    return typeof cell === "string" && cell.length > LINE ? html`class="text"` : null;
  };
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${name}">
    <table class="table">
      <thead>
        <tr>
          ${head.map((cell, at) => html`<th scope="col" ${toClass(at)}>${cell}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          ([first = "", ...cells]) =>
            html`<tr>
              <th scope="row" ${toClass(0, first)}>${first}</th>
              ${cells.map((cell, at) => html` <td ${toClass(at + 1, cell)}>${cell}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** Characters of a cell that are not broken into lines. */
const LINE = 40;

function isNumber(cell: HtmlValue = ""): boolean {
  return NUMBER.test(String(cell).trim());
}

const REPORT = "report.html";
const FILE = /\.(?:triage|digest|eval)\.html$/;
const MOST = 12;

/** Returns whether a file, of which the beginning is given, is a page of these programs. */
export function isPage(beginning: string): boolean {
  return beginning.startsWith("<!doctype html>") && beginning.includes(pageIcon().toString());
}

/** Returns links from a report at a path to itself and to the reports of its folder. */
export async function reportsBeside(path: string): Promise<PageLink[]> {
  const own = dirname(path);
  // A command that writes several files has a folder for them.
  const folder = basename(path) === REPORT ? dirname(own) : own;
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const foundNames = entries.flatMap((entry) => {
    const report = join(folder, entry.name, REPORT);
    if (entry.isDirectory()) return existsSync(report) ? [report] : [];
    return FILE.test(entry.name) ? [join(folder, entry.name)] : [];
  });
  const others = foundNames.filter((report) => report !== path).slice(0, MOST);
  return [path, ...others].toSorted().map((report) => {
    const parts = relative(own, report).split(sep);
    return {
      href: parts.map(encodeURIComponent).join("/"),
      name: basename(basename(report) === REPORT ? dirname(report) : report, ".html"),
      isCurrent: report === path,
    };
  });
}
