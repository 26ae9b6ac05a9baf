import type { MiddlewareHandler } from "hono";
import { secureHeaders } from "hono/secure-headers";
import type { Page } from "../page/load-page.ts";

/** Allows the page its own style, script and origin, and nothing else; on every response. */
export function securityHeaders({ styleHash, scriptHash }: Page): MiddlewareHandler {
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
