import { html, page } from "evaluator-kit/page";
import { toStyleHash, TOOL } from "./load-page.ts";

/** Draws a failure for a person whose browser opens an address. */
export function failurePage(status: number, message: string): string {
  return page({
    tool: TOOL,
    pages: [{ href: "/", name: "Router" }],
    heading: String(status),
    title: `${status}: Tier router`,
    body: html`<p>${message}</p>`,
  });
}

/** The hash of the style of every failure, for the policy. */
export const failureStyleHash: string = toStyleHash(failurePage(404, ""));
