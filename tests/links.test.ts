import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";

const root = dirname(import.meta.dirname);
const files = globSync("{*.md,{.changeset,.github,apps,docs,examples,fixtures,packages}/**/*.md}", {
  cwd: root,
  // The site copies and generates pages.
  exclude: (path) => /(^|\/)(node_modules|dist)$|^docs\/(api|packages)$/.test(path),
});

/** The targets of a file's links and pictures that lead to a file or a heading of this repository. */
function localTargets(markdown: string): string[] {
  const prose = withoutCode(markdown).replace(/`[^`\n]*`/g, "");
  const links = prose.matchAll(/\]\(([^()\s]+)\)|^\[[^\]\n]+\]: (\S+)$|\bsrc="([^"\n]+)"/gm);
  const targets = Array.from(
    links,
    ([, inline, reference, source]) => inline ?? reference ?? source,
  );
  return targets.filter((target = "") => !/^[a-z]+:/.test(target)) as string[];
}

/** Returns what is wrong with a link, or null. */
function problemOf(file: string, target: string): string | null {
  const [path = "", anchor] = target.split("#");
  const found = path === "" ? join(root, file) : join(root, dirname(file), path);
  const where = `${file}: ${target}`;
  if (!existsSync(found)) return `${where} is no file`;
  if (relative(root, found).startsWith("..")) return `${where} leads out of the repository`;
  if (anchor === undefined) return null;
  const anchors = headingAnchors(readFileSync(found, "utf8"));
  return anchors.includes(decodeURIComponent(anchor)) ? null : `${where} is no heading`;
}

test("every link in every Markdown file leads to a file, and to a heading of it", () => {
  const links = files.flatMap((file) =>
    localTargets(readFileSync(join(root, file), "utf8")).map((target) => ({ file, target })),
  );
  expect(links.length).toBeGreaterThan(80);
  expect(links.map(({ file, target }) => problemOf(file, target)).filter(Boolean)).toEqual([]);
});

test("the documentation begins with the tutorial", () => {
  const [first] = localTargets(readFileSync(join(root, "docs/index.md"), "utf8"));
  expect(first).toBe("tickets.md");
});

test("a link that is dead is seen", () => {
  expect(problemOf("README.md", "docs/nowhere.md")).toContain("is no file");
  expect(problemOf("README.md", "#nowhere")).toContain("is no heading");
  expect(problemOf("docs/errors.md", "#retries")).toBeNull();
  expect(localTargets("[a](b.md) `[c](d.md)`\n```\n[e](f.md)\n```\n![g](h.png)")).toEqual([
    "b.md",
    "h.png",
  ]);
});

/** Returns the text of a Markdown file without its fenced code, whose lines are neither headings nor links. */
function withoutCode(markdown: string): string {
  return markdown.replace(/^(`{3,})[^\n]*\n[^]*?^\1$/gm, "");
}

/** Returns the anchors of a Markdown file's headings, in order, as GitHub names them. */
function headingAnchors(markdown: string): string[] {
  const seen = new Map<string, number>();
  const headings = withoutCode(markdown).matchAll(/^#{1,6} (.+)$/gm);
  return Array.from(headings, ([, heading = ""]) => {
    const anchor = heading
      .toLowerCase()
      .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replace(/\s/g, "-");
    const times = seen.get(anchor) ?? 0;
    seen.set(anchor, times + 1);
    return times === 0 ? anchor : `${anchor}-${times}`;
  });
}
