import type { Handler } from "hono";

/** `GET /healthz`: this process answers. */
export const healthRoute: Handler = (c) => c.json({ status: "alive" });

/** `GET /readyz`: new messages are welcome, until the router begins to stop. */
export function readyRoute(isStopping: () => boolean): Handler {
  return (c) =>
    isStopping() ? c.json({ status: "stopping" }, 503) : c.json({ status: "ready" }, 200);
}
