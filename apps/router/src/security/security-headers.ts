import type { MiddlewareHandler } from "hono";
import { secureHeaders } from "hono/secure-headers";

/** Source expressions of the page's one style and its one script, such as `sha256-…`. */
interface PageHashes {
  readonly styleHash: string;
  readonly scriptHash: string;
}

const reportPath = "/decisions";

/**
 * Allows the page its own style, script and origin, and nothing else; on every response. A report
 * has styles on its bars, and nothing that runs.
 */
export function securityHeaders({ styleHash, scriptHash }: PageHashes): MiddlewareHandler {
  const ofPage = headersWith({
    styleSrc: [`'${styleHash}'`],
    scriptSrc: [`'${scriptHash}'`],
    connectSrc: ["'self'"],
    imgSrc: ["data:"],
  });
  const ofReport = headersWith({ styleSrc: ["'unsafe-inline'"] });
  return (c, next) => (c.req.path === reportPath ? ofReport(c, next) : ofPage(c, next));
}

function headersWith(sources: Record<string, string[]>): MiddlewareHandler {
  return secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      ...sources,
      baseUri: ["'none'"],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
      requireTrustedTypesFor: ["'script'"],
      trustedTypes: ["'none'"],
    },
    xFrameOptions: "DENY",
    strictTransportSecurity: false, // loopback has no https
  });
}
