import { createApp } from "../create-app.ts";
import { defaultPolicy } from "../decision/routing-policy.ts";
import { loadPage } from "../page/load-page.ts";
import type { RouterOptions } from "../options/router-options.ts";
import { connectServices } from "../services/connect-services.ts";
import { askApp } from "./ask-app.ts";
import { checkPrompts } from "./check-prompts.ts";

/** Where a self-check writes to. */
export interface SelfCheckOutput {
  /** Prints a text. */
  readonly write: (text: string) => void;
  /** Is told of an error nobody expected. */
  readonly reportDefect: (error: Error) => void;
}

const recordedNotice =
  "Answers are recordings, played by the local emulator; --live asks the configured service.";

/** Checks the whole router, all but its port, and gives whether every prompt passed. */
export async function runSelfCheck(
  { gateway, tierModels }: RouterOptions,
  { write, reportDefect }: SelfCheckOutput,
): Promise<boolean> {
  const services = connectServices(gateway);
  const page = await loadPage({ banner: null });
  const hosts = new Set(["localhost"]);
  const routing = { services, tierModels, policy: defaultPolicy, prices: new Map() }; // the models are checked, not the policy
  const app = createApp({ page, hosts, routing, reportDefect });
  write(`${services.isEmulated ? recordedNotice : services.notice}\n`);
  const passed = await checkPrompts({ ask: (message) => askApp(app, message), write });
  await services.close();
  return passed;
}
