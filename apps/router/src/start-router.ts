import { once } from "node:events";
import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { listen } from "evaluator-kit";
import {
  defaultServerLimits,
  followConnections,
  limitConnections,
  type ServerLimits,
} from "./connections.ts";
import { type AppParts, createApp } from "./create-app.ts";
import type { Routing } from "./decision/decide.ts";
import { loadPage } from "./page/load-page.ts";
import type { RouterOptions } from "./router-options.ts";
import { allowedHosts } from "./routes/guards.ts";

/** The parts of a router; the parts that its options name are left out. */
export interface RouterParts
  extends
    Omit<AppParts, "page" | "routing" | "hosts" | "proxiedHosts" | "isStopping">,
    Pick<Routing, "services">,
    Partial<Pick<Routing, "prices" | "calibration">> {
  readonly options: RouterOptions;
  /** @default defaultServerLimits */
  readonly limits?: Partial<ServerLimits>;
}

/**
 * Starts the router.
 *
 * @throws CliError if its address is not free.
 */
export async function startRouter(parts: RouterParts) {
  const { options, services, prices = new Map(), calibration = null, ...rest } = parts;
  const { host, tierModels, policy, allowedNames } = options;
  const { graceMs, maxConnections, ...limits } = { ...defaultServerLimits, ...parts.limits };
  const page = await loadPage({ ...services, hasLog: parts.keepFeedback !== undefined });
  const server = createServer(limits);
  const connections = followConnections(server, options.stallMs);
  limitConnections(server, maxConnections);
  const { port, origin } = await listen(server, {
    host,
    port: options.port,
    portSetting: "PORT=",
    hostSetting: "HOST=",
  });
  let isStopping = false;
  const app = createApp({
    ...options,
    ...rest,
    instance: parts.instance ?? "router",
    page,
    hosts: allowedHosts({ host, port, names: allowedNames }), // the port is known only now
    proxiedHosts: allowedNames,
    routing: { services, tierModels, policy, prices, calibration },
    isStopping: () => isStopping,
  });
  server.on("request", getRequestListener(app.fetch));
  return {
    /** The page's address, such as `http://127.0.0.1:3000`. */
    origin,
    /** Stops listening, lets answers in flight finish, and closes the services. */
    close: async () => {
      isStopping = true;
      server.close();
      connections.drain();
      const grace = setTimeout(() => connections.cut(), graceMs);
      await once(server, "close");
      clearTimeout(grace);
      await services.close();
    },
  };
}
