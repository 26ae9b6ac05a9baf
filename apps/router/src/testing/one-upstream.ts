import { type UpstreamType, upstreamTypes } from "../conversation/upstream-types.ts";
import { toHash, type RouterKey, storedKeySchema } from "../keys/router-key.ts";
import type { MessageRecord } from "../records/message-record.ts";
import { connectUpstream, type UpstreamOptions } from "../reply/upstream.ts";
import { parseRouterOptions } from "../router-options.ts";
import { configureReplies } from "../services/connect-services.ts";
import { apiForms, post } from "./api-forms.ts";
import { servicesOver, testRouter } from "./test-router.ts";
import { testGateway } from "./upstreams.ts";

/** The types of upstreams. */
export const upstreamNames = Object.keys(upstreamTypes) as UpstreamType[];

/** The text of a whole reply. */
export const wholeText = "Hello";
const usage = { input_tokens: 5, output_tokens: 7 };
const wholes = {
  "openai-chat": {
    choices: [
      { index: 0, message: { role: "assistant", content: wholeText }, finish_reason: "stop" },
    ],
    usage: { prompt_tokens: 5, completion_tokens: 7 },
  },
  "openai-responses": {
    id: "resp_1",
    created_at: 1,
    model: "m",
    output: [
      {
        id: "msg_1",
        type: "message",
        role: "assistant",
        content: [{ type: "output_text", text: wholeText, annotations: [] }],
      },
    ],
    usage,
  },
  anthropic: {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [{ type: "text", text: wholeText }],
    stop_reason: "end_turn",
    usage,
  },
  gateway: {
    content: [{ type: "text", text: wholeText }],
    finishReason: { unified: "stop" },
    usage: { inputTokens: { total: 5 }, outputTokens: { total: 7 } },
    warnings: [],
  },
};

interface OneUpstream extends Partial<Pick<UpstreamOptions, "baseUrl">> {
  /** @default a whole reply */
  readonly answer?: () => Response;
  /** The limits of the client's key. @default no key */
  readonly key?: Partial<Pick<RouterKey, "tiers" | "models">>;
}

/** Returns a router in front of one upstream of a type, with the texts that reach it and the records. */
export async function oneUpstream(type: UpstreamOptions["type"], given: OneUpstream = {}) {
  const { baseUrl = "https://upstream.invalid/v1", answer = () => Response.json(wholes[type]) } =
    given;
  const stored = { name: "alice", budget: "alice", sha256: toHash("rk_alice"), ...given.key };
  const keys = given.key && { current: () => [storedKeySchema.parse(stored)] };
  const sent: string[] = [];
  const records: MessageRecord[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    sent.push(await new Request(input, init).text());
    return answer();
  };
  const upstream = connectUpstream({ type, name: "u", baseUrl, apiKey: null, fetch });
  const services = servicesOver(testGateway().fetch);
  const current = configureReplies(upstream, parseRouterOptions({}));
  const { request } = await testRouter(
    {},
    {
      services: { ...services, replies: { ...services.replies, current } },
      observe: (record) => records.push(record),
      ...(keys && { keys }),
    },
  );
  return {
    sent,
    records,
    ask: async (name: (typeof apiForms)[number]["name"], fields: object) => {
      const form = apiForms.find((each) => each.name === name) ?? apiForms[0];
      const body = { ...form.ask(["hi"], { model: "nano" }), ...fields };
      return request(form.path, post(body, { "x-api-key": "rk_alice" }));
    },
    body: () => JSON.parse(sent.at(-1) ?? "null") as Record<string, unknown>,
  };
}
