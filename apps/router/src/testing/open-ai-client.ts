import OpenAI from "openai";
import { startTestRouter } from "./start-test-router.ts";
import type { Differences } from "./test-gateway.ts";

/** A router, and OpenAI's own package as its client. */
export async function openAiClient(
  differences: Differences = {},
  env: Record<string, string> = {},
) {
  const router = await startTestRouter(differences, { env });
  const apiKey = env["ROUTER_ACCESS_TOKEN"] ?? "any";
  return { ...router, client: new OpenAI({ apiKey, baseURL: `${router.origin}/v1` }) };
}

/** The whole of a stream. */
export async function collect<TItem>(stream: AsyncIterable<TItem>): Promise<TItem[]> {
  const items: TItem[] = [];
  for await (const item of stream) items.push(item);
  return items;
}
