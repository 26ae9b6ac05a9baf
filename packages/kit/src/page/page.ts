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
  title: pageTitle = heading,
  about = null,
  contents = [],
  body,
  footer = null,
  styles,
  script,
  formsTo = "none",
  ...parts
}: PageParts): readonly [before: string, after: string] {
  const scriptPolicy =
    script === undefined
      ? ""
      : `; script-src '${sourceHash(script)}'; base-uri 'none'; form-action '${formsTo}'; connect-src '${formsTo}'`;
  const documentMarkup = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta
          http-equiv="Content-Security-Policy"
          content="${trusted(`default-src 'none'; style-src 'unsafe-inline'; img-src data:${scriptPolicy}`)}"
        />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${pageTitle}</title>
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
  const joinedText = documentMarkup
    .toString()
    .replaceAll(/(?<=[<>"])[^<>"]+(?=<)/g, (markupText) =>
      markupText.replaceAll(/(?<=\d) %/g, "\u00A0%"),
    );
  const [markupBefore = "", markupAfter = ""] = joinedText.split(END);
  // In one piece: the hash covers all text between the tags.
  const scriptElement = script === undefined ? "" : `<script>${script}</script>`;
  return [markupBefore, scriptElement + markupAfter];
}

const sheetTexts = new Map<string, string>();

/** Returns the common style, and a page's own style sheets behind it. */
export function pageStyle(ownSheets: readonly URL[] = []): string {
  const commonSheets = [
    new URL("tokens.css", import.meta.url),
    new URL("pieces.css", import.meta.url),
  ];
  return [...commonSheets, ...ownSheets]
    .map(({ href: sheetHref }) => sheetTexts.get(sheetHref) ?? readSheet(sheetHref))
    .join("");
}

function readSheet(sheetHref: string): string {
  const sheetText = readFileSync(new URL(sheetHref), "utf8").replaceAll("\r\n", "\n");
  sheetTexts.set(sheetHref, sheetText);
  return sheetText;
}

const MARK = "M1.5 8H6l4-4.5h4.5M6 8l4 4.5h4.5";

/** Returns the icon of every page as a part of it. */
export function pageIcon(): Html {
  const escapedSvg = iconSvg().replaceAll(/[#<>]/g, encodeURIComponent);
  return html`<link rel="icon" href="${trusted(`data:image/svg+xml,${escapedSvg}`)}" />`;
}

/** Returns the answer to `/favicon.ico`, which browsers request for an answer that is no page, such as JSON. */
export function iconFile() {
  const responseHeaders = { "Content-Type": "image/svg+xml", "Cache-Control": "max-age=86400" };
  return [iconSvg(), 200, responseHeaders] as const;
}

/** A picture knows no custom properties of a page, so it has the light colour. */
function iconSvg(): string {
  const [, strokeColour = ""] = /--balanced: light-dark\(#(\w+)/.exec(pageStyle()) ?? [];
  const strokeAttributes = `fill='none' stroke='#${strokeColour}' stroke-width='1.75' stroke-linecap='round'`;
  return `<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><path ${strokeAttributes} d='${MARK}'/></svg>`;
}

/** Returns the header of every page: the tool's name, and links to the pages beside. */
export function pageHeader(toolName: string, pageLinks: readonly PageLink[]): Html {
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
      ${toolName}
    </span>
    ${pageLinks.length === 0 ? null : listLinks("Pages", pageLinks)}
  </header>`;
}

function listLinks(label: "Pages" | "Contents", links: readonly PageLink[]): Html {
  const linkElements = links.map(({ href, name, isCurrent = false, count }) => {
    const currentAttribute = isCurrent ? html` aria-current="page"` : null;
    return html`<a href="${href}" ${currentAttribute}
      >${name}${count === undefined ? null : html` <b>${count}</b>`}</a
    > `;
  });
  return html`<nav class="${label.toLowerCase()}" aria-label="${label}">${linkElements}</nav>`;
}

/** Returns the hash of a script or style for a page's policy, such as `sha256-…`. */
export function sourceHash(sourceText: string): string {
  return `sha256-${createHash("sha256").update(sourceText).digest("base64")}`;
}

// A number with its unit, its interval and a sign of a verdict, or an interval; "2026-11-02" is none.
const NUMBER =
  /^[✓✗<≥≈~$+−-]*\s?[\d.,]*\d(?:\s?(?:%|ms|s))?(?:\s\(.*\)|\sto\s[\d.,]*\d(?:\s?%)?)?$/;

/**
 * Returns a table that scrolls if it must: its name, its head, and rows that begin with their name. Numbers
 * are at the right, and so is a column that has mostly numbers.
 */
export function table(
  tableName: string,
  columnNames: readonly string[],
  rows: readonly (readonly HtmlValue[])[],
): Html {
  const areNumberColumns = columnNames.map((_, columnIndex) => {
    const numberCount = rows.filter((row) => isNumber(row[columnIndex])).length;
    return columnIndex > 0 && numberCount > 0 && 2 * numberCount >= rows.length;
  });
  const toClass = (columnIndex: number, cell: HtmlValue = "") => {
    if (columnIndex > 0 && (areNumberColumns[columnIndex] === true || isNumber(cell)))
      return html`class="number"`;
    return typeof cell === "string" && cell.length > LINE_LENGTH ? html`class="text"` : null;
  };
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${tableName}">
    <table class="table">
      <thead>
        <tr>
          ${columnNames.map((cell, columnIndex) => html`<th scope="col" ${toClass(columnIndex)}>${cell}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          ([rowName = "", ...otherCells]) =>
            html`<tr>
              <th scope="row" ${toClass(0, rowName)}>${rowName}</th>
              ${otherCells.map((cell, cellIndex) => html` <td ${toClass(cellIndex + 1, cell)}>${cell}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** Characters of a cell that are not broken into lines. */
const LINE_LENGTH = 40;

function isNumber(cell: HtmlValue = ""): boolean {
  return NUMBER.test(String(cell).trim());
}

const REPORT_NAME = "report.html";
const REPORT_FILE = /\.(?:triage|digest|eval)\.html$/;
const MOST_REPORTS = 12;

/** Returns whether a file, of which the beginning is given, is a page of these programs. */
export function isPage(beginning: string): boolean {
  return beginning.startsWith("<!doctype html>") && beginning.includes(pageIcon().toString());
}

/** Returns links from a report at a path to itself and to the reports of its folder. */
export async function reportsBeside(reportPath: string): Promise<PageLink[]> {
  const ownFolder = dirname(reportPath);
  // A command that writes several files has a folder for them.
  const reportsFolder = basename(reportPath) === REPORT_NAME ? dirname(ownFolder) : ownFolder;
  const folderEntries = await readdir(reportsFolder, { withFileTypes: true }).catch(() => []);
  const foundPaths = folderEntries.flatMap((folderEntry) => {
    const nestedReport = join(reportsFolder, folderEntry.name, REPORT_NAME);
    if (folderEntry.isDirectory()) return existsSync(nestedReport) ? [nestedReport] : [];
    return REPORT_FILE.test(folderEntry.name) ? [join(reportsFolder, folderEntry.name)] : [];
  });
  const otherPaths = foundPaths
    .filter((foundPath) => foundPath !== reportPath)
    .slice(0, MOST_REPORTS);
  return [reportPath, ...otherPaths].toSorted().map((linkedPath) => {
    const pathParts = relative(ownFolder, linkedPath).split(sep);
    return {
      href: pathParts.map(encodeURIComponent).join("/"),
      name: basename(
        basename(linkedPath) === REPORT_NAME ? dirname(linkedPath) : linkedPath,
        ".html",
      ),
      isCurrent: linkedPath === reportPath,
    };
  });
}
