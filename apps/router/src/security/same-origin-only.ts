import type { HonoRequest, MiddlewareHandler } from "hono";

/** Refuses a request that names a foreign host, or that another page's script or link makes. */
export function sameOriginOnly(hosts: ReadonlySet<string>): MiddlewareHandler {
  return async (c, next) => {
    const error = refusalOf(c.req, hosts);
    return error === null ? next() : c.json({ error }, 403);
  };
}

function refusalOf(request: HonoRequest, hosts: ReadonlySet<string>): string | null {
  const host = request.header("host")?.toLowerCase() ?? "";
  const origin = request.header("origin");
  const site = request.header("sec-fetch-site") ?? "none";
  // A request line may hold a whole address, which then differs from the header.
  if (!hosts.has(host) || !hosts.has(new URL(request.url).host)) {
    return "This router answers to its own address only.";
  }
  if (origin !== undefined && ![...hosts].some((own) => origin === `http://${own}`)) {
    return "This router answers to its own page only.";
  }
  if (site === "same-origin" || site === "none") return null;
  return "Open this router's address directly; other sites may not.";
}
