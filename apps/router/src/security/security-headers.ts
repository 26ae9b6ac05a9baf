import type { MiddlewareHandler } from "hono";
import { secureHeaders } from "hono/secure-headers";

/** Source expressions of the page's one style and its one script, such as `sha256-…`. */
interface PageHashes {
  readonly styleHash: string;
  readonly scriptHash: string;
}

/** Allows the page its own style, script and origin, and nothing else; on every response. */
export function securityHeaders({ styleHash, scriptHash }: PageHashes): MiddlewareHandler {
  return secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      styleSrc: [`'${styleHash}'`],
      scriptSrc: [`'${scriptHash}'`],
      connectSrc: ["'self'"],
      imgSrc: ["data:"],
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
