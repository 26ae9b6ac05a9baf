import { readFile } from "node:fs/promises";
import { bundleScript } from "./bundle-script.ts";
import { createPage, type Page } from "./page.ts";

/** Puts the page together from the document, the style and the script beside this file. */
export async function loadPage(options: { banner: string | null }): Promise<Page> {
  const [document, style, script] = await Promise.all([
    readFile(new URL("index.html", import.meta.url), "utf8"),
    readFile(new URL("style.css", import.meta.url), "utf8"),
    bundleScript(),
  ]);
  const whole = document
    .replace("/* style.css */", () => style)
    .replace("/* script */", () => script);
  return createPage(whole, options);
}
