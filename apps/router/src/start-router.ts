import { once } from "node:events";
import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { createApp } from "./create-app.ts";
import { listen } from "./listen.ts";
import { loadPage } from "./page/load-page.ts";
import type { RouterOptions } from "./router-options.ts";
import { allowedHosts } from "./security/allowed-hosts.ts";
import type { Services } from "./services/services.ts";

/** A router that listens. */
export interface RunningRouter {
  /** Where the page is, such as `http://127.0.0.1:3000`. */
  readonly origin: string;
  /** Stops listening, lets answers in flight finish, and lets go of the services. */
  readonly close: () => Promise<void>;
}

/** What a router runs with. */
export interface RouterParts {
  readonly options: RouterOptions;
  readonly services: Services;
  /** Is told of an error nobody expected. */
  readonly reportDefect: (error: Error) => void;
}

/**
 * Starts the router.
 *
 * @throws StartError when its address cannot be listened on.
 */
export async function startRouter(parts: RouterParts): Promise<RunningRouter> {
  const { options, services, reportDefect } = parts;
  const { host, tierModels } = options;
  const page = await loadPage({ banner: services.isEmulated ? services.notice : null });
  const server = createServer();
  const port = await listen(server, options);
  const hosts = allowedHosts({ host, port }); // known only now: port 0 takes any free one
  const app = createApp({ page, hosts, services, tierModels, reportDefect });
  server.on("request", getRequestListener(app.fetch));
  server.on("request", (_request, response) => {
    response.once("close", () => server.listening || server.closeIdleConnections());
  });
  return {
    origin: `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
    close: async () => {
      server.close();
      await once(server, "close");
      await services.close();
    },
  };
}
