import type { MiddlewareHandler } from "hono";
import { secureHeaders } from "hono/secure-headers";
import { failureStyleHash } from "../page/failure-page.ts";

/** Source expressions of the page, such as `sha256-…`. */
interface PageHashes {
  readonly styleHash: string;
  readonly scriptHash: string;
}

/** Sets the headers of every answer; only the page and a failure have a style, and only the page a script. */
export function pageHeaders({ styleHash, scriptHash }: PageHashes): MiddlewareHandler {
  return headersWith({
    styleSrc: [`'${styleHash}'`, `'${failureStyleHash}'`],
    scriptSrc: [`'${scriptHash}'`],
    connectSrc: ["'self'"],
    imgSrc: ["data:", "'self'"], // a browser shows /favicon.ico beside JSON only then
  });
}

/** The pages of the log have bars with styles, and forms instead of a script. */
export const reportHeaders = headersWith(
  { styleSrc: ["'unsafe-inline'"], imgSrc: ["data:"] },
  // With no-referrer a browser names no origin for a form.
  { formAction: "'self'", referrerPolicy: "same-origin" },
);

function headersWith(
  sources: Record<string, string[]>,
  { formAction = "'none'", referrerPolicy = "no-referrer" } = {},
): MiddlewareHandler {
  return secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      ...sources,
      baseUri: ["'none'"],
      formAction: [formAction],
      frameAncestors: ["'none'"],
      requireTrustedTypesFor: ["'script'"],
      trustedTypes: ["'none'"],
    },
    xFrameOptions: "DENY",
    referrerPolicy,
    strictTransportSecurity: false, // loopback has no https
  });
}
