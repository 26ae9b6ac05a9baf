/** Returns the text of a Markdown file without its fenced code, whose lines are neither headings nor links. */
export function withoutCode(markdown: string): string {
  return markdown.replace(/^(`{3,})[^\n]*\n[^]*?^\1$/gm, "");
}

/** Returns the anchors of a Markdown file's headings, in order, as GitHub names them. */
export function headingAnchors(markdown: string): string[] {
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
