import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { type ExportedDeclaration, exportedDeclarations } from "./declarations.ts";
import { headingAnchors } from "./markdown.ts";

// npm run docs:api: writes docs/api, one file for each published package that is imported, from the
// docstrings in its emitted `.d.ts`. No generator of others works with TypeScript 7, which has no
// stable API yet.

/** The packages that have a reference; the others are programs. */
export const importedPackages = [
  "evaluator-client",
  "evaluator-calibration",
  "evaluator-emulator",
  "evaluator-runs",
];

const longest = 400;
const headings = {
  function: "Functions",
  class: "Classes",
  constant: "Constants",
  interface: "Types",
  type: "Types",
} as const;

interface BuiltManifest {
  readonly name: string;
  readonly description: string;
  readonly exports: Readonly<Record<string, string | { readonly types?: string }>>;
}

/** Returns the reference of a built package as Markdown. */
export function renderReference(folder: string): string {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as BuiltManifest;
  const { name, description, exports } = manifest;
  const parts = [
    `# ${name}`,
    `<!-- Written by \`npm run docs:api\` from the docstrings; change them, not this file. -->`,
    description,
  ];
  const entries = Object.entries(exports).flatMap(([path, target]) => {
    if (typeof target !== "object" || target.types === undefined) return [];
    const declarations = exportedDeclarations(join(folder, target.types));
    return [{ entry: join(name, path), declarations }];
  });
  for (const { entry, declarations } of entries) {
    parts.push(`## ${entry}`, `@contents ${entry}`);
    parts.push(...declarations.map((declaration) => renderDeclaration(declaration)));
  }
  return withContents(parts.join("\n\n"), entries);
}

interface Entry {
  /** As it is imported. */
  readonly entry: string;
  readonly declarations: readonly ExportedDeclaration[];
}

/** Puts a list of links in each entry's place, now that all headings have their anchors. */
function withContents(markdown: string, entries: readonly Entry[]): string {
  const anchors = headingAnchors(markdown);
  // The title comes first, and each entry's heading before its names.
  let next = 1;
  let text = markdown;
  for (const { entry, declarations } of entries) {
    next += 1;
    const links = declarations.map(({ name, kind }, index) => ({
      heading: headings[kind],
      link: `[\`${name}\`](#${anchors[next + index]})`,
    }));
    next += declarations.length;
    const lines = [...new Set(Object.values(headings))].flatMap((heading) => {
      const under = links.filter((each) => each.heading === heading).map(({ link }) => link);
      return under.length === 0 ? [] : [`- ${heading}: ${under.join(", ")}`];
    });
    text = text.replace(`@contents ${entry}\n`, () => `${lines.join("\n")}\n`);
  }
  return `${text}\n`;
}

function renderDeclaration({ name, kind, doc, texts }: ExportedDeclaration): string {
  const shown = texts.map((text) => {
    // A schema's type repeats the schema.
    const isLong = kind === "constant" && text.length > longest;
    return isLong ? `${text.slice(0, text.indexOf("<"))}<…>;` : text;
  });
  const code = `\`\`\`ts\n${shown.join("\n")}\n\`\`\``;
  return [`### ${name}`, ...renderDoc(doc, code)].join("\n\n");
}

/** The text, the declaration, then parameters, errors and examples. */
function renderDoc(doc: string, code: string): string[] {
  const [text = "", ...tags] = doc.split(/^@(?=\w+)/m);
  const lines = tags.flatMap((tag) => {
    const [, kind = "", rest = ""] = /^(\w+)\s*([^]*)$/.exec(tag) ?? [];
    if (kind === "throws") {
      const [, error, when = ""] = /^\{?(\w+)\}?\s*([^]*)$/.exec(rest) ?? [];
      return [`- Throws \`${error}\` ${plain(when)}`];
    }
    if (kind === "param") return [`- ${plain(rest).replace(/^(\S+) - /, "`$1`: ")}`];
    return kind === "default" ? [`- Default: ${plain(rest)}`] : [];
  });
  const examples = tags
    .filter((tag) => tag.startsWith("example"))
    .map((tag) => tag.slice(7).trim());
  return [plain(text), code, lines.join("\n"), ...examples].filter((part) => part !== "");
}

/** One paragraph, links to other names as their names. */
function plain(doc: string): string {
  return doc
    .replace(/\{@link ([^}|\n]+)\}/g, "`$1`")
    .trim()
    .replace(/\n(?=\S)/g, " ");
}

/** Builds the packages and writes their references. */
function writeReferences(): void {
  const root = dirname(import.meta.dirname);
  const cache = join(root, "node_modules/.cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "reference-"));
  try {
    for (const name of importedPackages) {
      const built = join(folder, name);
      const script = join(root, "scripts/build-package.ts");
      execFileSync(process.execPath, [script, built], { cwd: join(root, "packages", name) });
      writeFileSync(join(root, "docs/api", `${name}.md`), renderReference(built));
      process.stdout.write(`docs/api/${name}.md\n`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) writeReferences();
