import { serveParent } from "evaluator-kit/child";
import greeting from "evaluator-fixtures/exchanges/gateway/greeting-routes-to-nano.json" with { type: "json" };
import { roundsOf } from "../calls/run-round.ts";
import { apiKey, gatewayHeaders, openPost, replyText } from "../sample-requests.ts";

/** How a message gets its reply, through the router or by its two upstream calls alone; or how questions get answers. */
export type RouteKind =
  | "chat"
  | "chat-before"
  | "pass-through"
  | "upstream-by-hand"
  | "unread"
  | "systemone"
  | "decisions"
  | "evaluation-model";

/** The setup of a driver; `origin` is of the router or its reference. */
interface DriverSetUp {
  readonly kind: RouteKind;
  readonly origin: string | null;
  /** The gateway's base URL. */
  readonly gateway: string;
}

const post = await openPost();
/** The router's question (contract section 4.6). */
const { questions } = greeting.request.body;
const model = "openai/gpt-5-nano";
const json = { "content-type": "application/json" };
const textHeaders = {
  ...json,
  Authorization: `Bearer ${apiKey}`,
  "ai-language-model-id": model,
  "ai-language-model-specification-version": "4",
  "ai-language-model-streaming": "false",
};

function verify(tier: unknown, reply: unknown): void {
  if (tier === "nano" && reply === replyText) return;
  throw new Error(`Not the tier and reply expected: ${JSON.stringify({ tier, reply })}.`);
}

function promptOf(text: string): object {
  return { prompt: [{ role: "user", content: [{ type: "text", text }] }] };
}

function textOf(reply: unknown): unknown {
  return (reply as { content: { text: unknown }[] }).content[0]?.text;
}

type Opener = Parameters<typeof roundsOf<DriverSetUp>>[0];

const choices = Object.entries(questions.tier.criteria).map(([value, description]) => {
  return { value, description };
});
const list = [{ ...questions.tier, name: "tier", criteria: undefined, choices }];

const openChat: Opener = async ({ origin }) => {
  return async (number) => {
    const body = await post(`${origin}/chat`, json, { message: `hi ${number}` });
    const { tier, reply } = body as { tier?: unknown; reply?: unknown };
    verify(tier, reply);
  };
};

const openers: Readonly<Record<RouteKind, Opener>> = {
  chat: openChat,
  "chat-before": openChat,
  unread: openQuestions("/", gatewayHeaders),
  systemone: openQuestions("/v1/systemone", json),
  "evaluation-model": openQuestions("/v4/ai/evaluation-model", gatewayHeaders),
  async decisions({ origin }) {
    return async (number) => {
      const asked = { input: `hi ${number}`, questions: list };
      const body = await post(`${origin}/v1/decisions`, json, asked);
      const { answers } = body as { answers: { choice: unknown }[] };
      verify(answers[0]?.choice, replyText);
    };
  },
  async "pass-through"({ origin }) {
    return async (number) => {
      const reply = await post(`${origin}/chat`, textHeaders, promptOf(`hi ${number}`));
      verify("nano", textOf(reply));
    };
  },
  async "upstream-by-hand"({ gateway }) {
    return async (number) => {
      const message = `hi ${number}`;
      const asked = { state: { user_message: message }, questions };
      const decision = await post(`${gateway}/evaluation-model`, gatewayHeaders, asked);
      const reply = await post(`${gateway}/language-model`, textHeaders, promptOf(message));
      const { answers } = decision as { answers: { tier: { choice: unknown } } };
      verify(answers.tier.choice, textOf(reply));
    };
  },
};

/** Returns the opener of a route that answers in the vendor's form or the gateway's. */
function openQuestions(path: string, headers: Record<string, string>): Opener {
  return async ({ origin }) => {
    return async (number) => {
      const asked = { state: { user_message: `hi ${number}` }, questions };
      const body = await post(`${origin}${path}`, headers, asked);
      const { answers } = body as { answers: { tier: { choice: unknown } } };
      verify(answers.tier.choice, replyText);
    };
  };
}

const service = roundsOf((setUp: DriverSetUp) => openers[setUp.kind](setUp));

/** The calls that a driving process takes. */
export type DriverService = typeof service;

serveParent(service);
