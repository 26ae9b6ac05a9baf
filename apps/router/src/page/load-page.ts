import { readFile } from "node:fs/promises";
import { createPage, type Page } from "./page.ts";

/** Reads the page that lies beside this file. */
export async function loadPage(options: { banner: string | null }): Promise<Page> {
  const document = await readFile(new URL("index.html", import.meta.url), "utf8");
  return createPage(document, options);
}
