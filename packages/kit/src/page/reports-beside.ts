import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import type { PageLink } from "./page.ts";

const REPORT = "report.html";
const FILE = /\.(?:triage|digest|eval)\.html$/;
const MOST = 12;

/** Returns links from a report at a path to itself and to the reports of its folder. */
export async function reportsBeside(path: string): Promise<PageLink[]> {
  const own = dirname(path);
  // A command that writes several files has a folder for them.
  const folder = basename(path) === REPORT ? dirname(own) : own;
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const found = entries.flatMap((entry) => {
    const report = join(folder, entry.name, REPORT);
    if (entry.isDirectory()) return existsSync(report) ? [report] : [];
    return FILE.test(entry.name) ? [join(folder, entry.name)] : [];
  });
  const others = found.filter((report) => report !== path).slice(0, MOST);
  return [path, ...others].toSorted().map((report) => {
    const parts = relative(own, report).split(sep);
    return {
      href: parts.map(encodeURIComponent).join("/"),
      name: basename(basename(report) === REPORT ? dirname(report) : report, ".html"),
      isCurrent: report === path,
    };
  });
}
