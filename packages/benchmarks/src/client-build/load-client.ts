import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type * as client from "evaluator-client";

/** The client's main entry, with the types of the sources it was built from. */
export type Client = typeof client;

/** Loads the built client, as a program that installed it does. */
export async function loadClient(clientFolder: string): Promise<Client> {
  return (await import(entryUrl(clientFolder, "evaluator-client"))) as Client;
}

/** The URL of an entry point such as `evaluator-client/ai-sdk` in the built client. */
export function entryUrl(clientFolder: string, entry: string): string {
  const path = createRequire(join(clientFolder, "package.json")).resolve(entry);
  return pathToFileURL(path).href;
}
