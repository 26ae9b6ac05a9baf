import { boolean, choice, score } from "evaluator-client";

/** The questions of all calls. */
export const questions = {
  topic: choice("What is it about?", { bill: "money", talk: "people", work: "tasks", other: "" }),
  urgency: score("How urgent is it?", ["can wait", "this week", "today"]),
  spam: boolean("Is it unwanted?"),
};

/** What an answer depends on. */
export interface Asked {
  /** The state as JSON. */
  readonly state: string;
  readonly model: string;
  readonly url: string;
}

/** Returns the answers that carry the hash of state, model and address. */
export function answersTo({ state, model, url }: Asked) {
  const [first = 0, second = 0, third = 0, fourth = 0] = draws(`${model} ${url} ${state}`);
  const [bill = 0, talk = 0, work = 0, other = 0] = parts([first, second, third]);
  const [low = 0, middle = 0, high = 0] = parts([third, fourth]);
  const topics = { bill, talk, work, other };
  const best = Math.max(bill, talk, work, other);
  const topic = Object.entries(topics).find(([, part]) => part === best)?.[0] ?? "other";
  return {
    topic: { type: "choice", choice: topic, probabilities: topics },
    urgency: {
      type: "score",
      score: Math.round((middle + 2 * high) * 100) / 100,
      probabilities: { "0": low, "1": middle, "2": high },
    },
    spam: { type: "boolean", probability: (fourth % 101) / 100 },
  };
}

/** The price of a token in US dollars. */
export const USD_PER_TOKEN = 0.042 / 1e6;
const CHARACTERS_PER_TOKEN = 4;
const PROMPT_TOKENS = 256;

/** Returns the price of a request in US dollars, as the client estimates it. */
export function estimateUsd(body: string): number {
  return (body.length / CHARACTERS_PER_TOKEN) * USD_PER_TOKEN;
}

/** Returns the most that a request may cost in US dollars, as the client reserves it. */
export function mostUsd(body: string): number {
  return (Buffer.byteLength(body) + PROMPT_TOKENS) * USD_PER_TOKEN;
}

/** Returns the input tokens of a request with that state: 0.6 to 1.9 times a quarter of its characters. */
export function tokensOf(body: string, { state }: Pick<Asked, "state">): number {
  const [draw = 0] = draws(state);
  return Math.ceil((body.length / 4) * (0.6 + (draw % 1300) / 1000));
}

/** Returns four numbers that depend on each character (FNV-1a, then mulberry32). */
function draws(text: string): number[] {
  let state = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    state = Math.imul(state ^ text.charCodeAt(at), 0x01000193);
  }
  return Array.from({ length: 4 }, () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  });
}

/** Returns probabilities in hundredths with the sum 1, one more than the numbers. */
function parts(numbers: readonly number[]): number[] {
  let left = 100;
  const taken = numbers.map((number) => {
    const part = number % (left + 1);
    left -= part;
    return part / 100;
  });
  return [...taken, left / 100];
}
