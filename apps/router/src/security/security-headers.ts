import type { MiddlewareHandler } from "hono";
import { secureHeaders } from "hono/secure-headers";

/** Source expressions of the page's one style and its one script, such as `sha256-…`. */
interface PageHashes {
  readonly styleHash: string;
  readonly scriptHash: string;
}

/** Returns middleware whose headers allow the page its own style, script and origin, and nothing else. */
export function pageHeaders({ styleHash, scriptHash }: PageHashes): MiddlewareHandler {
  return headersWith({
    styleSrc: [`'${styleHash}'`],
    scriptSrc: [`'${scriptHash}'`],
    connectSrc: ["'self'"],
    imgSrc: ["data:"],
  });
}

/** Returns middleware whose headers allow a report styles on its bars, and nothing that runs. */
export function reportHeaders(): MiddlewareHandler {
  return headersWith({ styleSrc: ["'unsafe-inline'"] });
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
