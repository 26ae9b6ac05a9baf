import { readFileSync } from "node:fs";

/** Returns the fenced code blocks of a Markdown file in one language, in order. */
export function readCodeBlocks(file: string, language: string): string[] {
  const markdown = readFileSync(new URL(`../${file}`, import.meta.url), "utf8");
  const blocks = markdown.matchAll(/^```(\w+)\n(.*?)^```$/gms);
  return [...blocks].flatMap(([, name, code = ""]) => (name === language ? [code] : []));
}
