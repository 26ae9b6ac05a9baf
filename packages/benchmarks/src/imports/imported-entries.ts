import { entryUrl } from "../client-build/load-client.ts";

/** An entry point that a program may import. */
export interface ImportedEntry {
  readonly name: string;
  /** Where it is. */
  readonly url: string;
  /** What a program takes from it; everything when not given. */
  readonly names?: readonly string[];
  /** Packages that it leaves to the program which imports it. */
  readonly peers: readonly string[];
  /** Whether it is meant for browsers too. */
  readonly isForBrowsers: boolean;
}

/** The entries of the built client, and what else a program would import in their place. */
export function importedEntries(clientFolder: string): readonly ImportedEntry[] {
  const own = (name: string, peers: readonly string[] = []) => ({
    name,
    url: entryUrl(clientFolder, name),
    peers,
    isForBrowsers: true,
  });
  const others = { peers: [], isForBrowsers: true };
  return [
    own("evaluator-client"),
    own("evaluator-client/ai-sdk", ["ai"]),
    own("evaluator-client/opentelemetry", ["@opentelemetry/api"]),
    { ...others, name: "@typesafe-ai/sdk", url: import.meta.resolve("@typesafe-ai/sdk") },
    {
      ...others,
      name: "ai",
      url: import.meta.resolve("ai"),
      names: ["experimental_decide", "createGateway"],
    },
    {
      ...others,
      name: "undici",
      url: import.meta.resolve("undici"),
      names: ["request"],
      isForBrowsers: false,
    },
  ];
}
