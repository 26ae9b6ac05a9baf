import type { Handler } from "hono";
import type { Page } from "../page/page.ts";

/** `GET /`: the page. */
export function pageRoute({ html }: Page): Handler {
  return (c) => c.html(html, 200, { "Cache-Control": "no-store" });
}
