import { once } from "node:events";
import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import type { CalibrationArtifact } from "evaluator-calibration";
import { listen, type TextSink } from "evaluator-kit";
import { createApp } from "./create-app.ts";
import {
  defaultServerLimits,
  followConnections,
  limitConnections,
  type ServerLimits,
} from "./connections.ts";
import type { RouterOptions } from "./options/router-options.ts";
import { loadPage } from "./page/load-page.ts";
import type { PriceList } from "./prices/tokens.ts";
import type { FeedbackRecord, Observe } from "./records/message-record.ts";
import { allowedHosts, ownAddresses } from "./security/own-addresses.ts";
import type { Services } from "./services/services.ts";

/** What a router runs with. */
export interface RouterParts {
  readonly options: RouterOptions;
  readonly services: Services;
  /** Called with an error nobody expected. */
  readonly reportDefect: (error: Error) => void;
  /** What the records call this process. @default "router" */
  readonly instance?: string;
  /** Corrects the evaluation model's probabilities. @default null */
  readonly calibration?: CalibrationArtifact | null;
  /** Prices by model id; may be filled later. @default none */
  readonly prices?: PriceList;
  /** Messages wait for it. @default nothing */
  readonly pricesTried?: Promise<void>;
  /** Called with what happened to each message. */
  readonly observe?: Observe;
  /** Draws the decision log as a page. @default there is none */
  readonly drawDecisions?: () => Promise<string>;
  /** Keeps what somebody said of a message's tier. */
  readonly keepFeedback?: (record: FeedbackRecord) => void;
  /** Records that the decision log dropped. @default there is no log */
  readonly logDropped?: () => number;
  /** Called with one line for each response. @default there is no access log */
  readonly accessLog?: TextSink;
  /** @default defaultServerLimits */
  readonly limits?: Partial<ServerLimits>;
}

/**
 * Starts the router.
 *
 * @throws CliError when its address cannot be listened on.
 */
export async function startRouter(parts: RouterParts) {
  const { options, services, prices = new Map(), calibration = null, ...rest } = parts;
  const { host, tierModels, policy } = options;
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
    ...rest,
    page,
    hosts: allowedHosts({ host, port, names: options.allowedNames, addresses: ownAddresses() }), // known only now: port 0 takes any free one
    proxiedHosts: options.allowedNames,
    routing: { services, tierModels, policy, prices, calibration },
    aliases: options.aliases,
    context: options.context,
    accessToken: options.accessToken,
    maxCallsInFlight: options.maxCallsInFlight,
    isStopping: () => isStopping,
  });
  server.on("request", getRequestListener(app.fetch));
  return {
    /** Where the page is, such as `http://127.0.0.1:3000`. */
    origin,
    /** Stops listening, lets answers in flight finish, and lets go of the services. */
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
