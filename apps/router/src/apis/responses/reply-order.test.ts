import { seededRandom } from "evaluator-kit";
import { expect, test } from "vitest";
import type { ReplyPiece } from "../../reply/reply-piece.ts";
import type { ServerEvent } from "../../routes/event-stream.ts";
import { responsesApi } from "./responses-api.ts";

const tools = [
  { type: "function", name: "look" },
  { type: "custom", name: "apply_patch" },
  { type: "namespace", name: "mcp__disk", tools: [{ type: "function", name: "list" }] },
];
const request = responsesApi.read({ model: "auto", input: "hi", tools });
const usage = { input: 1, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 0 };

/** Returns random pieces in the order of a reply: only calls interleave. */
function createPieces(random: () => number): ReplyPiece[] {
  const below = (count: number) => Math.floor(random() * count);
  const calls: string[] = [];
  const pieces: ReplyPiece[] = [];
  for (let block = 0; block < 1 + below(6); block += 1) {
    const key = `${block}`;
    const type = (["text", "reasoning", "toolCall"] as const)[below(3)] ?? "text";
    if (type === "toolCall") {
      const name = ["look", "apply_patch", "mcp__disk__list"][below(3)] ?? "";
      pieces.push({ type, key, id: `call_${key}`, name, text: "" });
      calls.push(key);
    }
    for (let count = below(5); count > 0; count -= 1) {
      const text = ["", "a", "🙂", '"}'][below(4)] ?? "";
      const isSigned = type === "reasoning" && below(4) === 0;
      const signed = isSigned ? { signature: { value: "sig", metadata: {} } } : {};
      const piece = { type, key: type === "toolCall" ? (calls[below(calls.length)] ?? key) : key };
      pieces.push({ ...piece, text, ...signed });
    }
  }
  return pieces;
}

interface Data {
  readonly type: string;
  readonly sequence_number: number;
  readonly output_index?: number;
  readonly item_id?: string;
  readonly item?: { readonly id: string; readonly type: string };
  readonly delta?: string;
}

const lastEvents: Readonly<Record<string, readonly string[]>> = {
  "response.content_part.added": ["response.content_part.done"],
  "response.output_text.delta": ["response.output_text.done"],
  "response.reasoning_summary_part.added": ["response.reasoning_summary_part.done"],
  "response.reasoning_summary_text.delta": ["response.reasoning_summary_text.done"],
  "response.function_call_arguments.delta": ["response.function_call_arguments.done"],
  "response.custom_tool_call_input.delta": ["response.custom_tool_call_input.done"],
  function_call: ["response.function_call_arguments.done"],
  custom_tool_call: ["response.custom_tool_call_input.done"],
};

interface Item {
  readonly id: string;
  /** The events that have to follow. */
  readonly waiting: Set<string>;
}

/** Returns what is wrong with an event of an item; the item changes with it. */
function checkItemEvent({ type, item, item_id }: Data, known: Item | undefined): string | null {
  if (known === undefined) return `${type} before its item`;
  if (known.id !== (item?.id ?? item_id)) return `${type} of another item`;
  if (known.waiting.size === 0) return `${type} after its item`;
  for (const last of lastEvents[type] ?? []) known.waiting.add(last);
  if (type.endsWith(".done") && !known.waiting.delete(type)) return `${type} twice`;
  if (type !== "response.output_item.done" || known.waiting.size === 0) return null;
  return `${type} before ${[...known.waiting].join()}`;
}

/** Returns what is wrong with the order of a reply's events. */
function checkOrder(events: readonly ServerEvent[]): string[] {
  const items: Item[] = [];
  const problems = events.map(({ event, data }, index) => {
    const { type, sequence_number, output_index, item } = data as Data;
    if (event !== type || sequence_number !== index) return `${type} at ${index}`;
    if (output_index === undefined) return null;
    if (item === undefined || type !== "response.output_item.added") {
      return checkItemEvent(data as Data, items[output_index]);
    }
    const waiting = new Set(["response.output_item.done", ...(lastEvents[item.type] ?? [])]);
    items.push({ id: item.id, waiting });
    return output_index === items.length - 1 ? null : `${type} with another index`;
  });
  const open = items.filter(({ waiting }) => waiting.size > 0).map(({ id }) => `${id} open`);
  const isEnded = events.at(-1)?.event === "response.completed";
  return [...problems, ...open, isEnded ? null : "no end"].filter((problem) => problem !== null);
}

test("the events of any reply are in order, and none of its text is lost", () => {
  for (let seed = 0; seed < 500; seed += 1) {
    const pieces = createPieces(seededRandom(seed));
    const writer = responsesApi.write({ requestId: "r", model: "m", createdAt: 9 }, request);
    const events = [
      ...writer.begin(),
      ...pieces.flatMap((piece) => writer.add([piece])),
      ...writer.end({ finishReason: "stop", usage }),
    ];
    expect(checkOrder(events), `seed ${seed}`).toEqual([]);
    const written = events.map(({ data }) => (data as Data).delta ?? "").join("");
    const given = pieces.map(({ text }) => text).join("");
    expect(written.split("").toSorted()).toEqual(given.split("").toSorted());
  }
});

test("the check of the order finds what is wrong", () => {
  const writer = responsesApi.write({ requestId: "r", model: "m", createdAt: 9 }, request);
  const events = [
    ...writer.begin(),
    ...writer.add([{ type: "text", key: "0", text: "Hello" }]),
    ...writer.end({ finishReason: "stop", usage }),
  ];
  for (const index of events.keys()) {
    const rest = events.filter((_event, each) => each !== index);
    expect(checkOrder(rest).length, `without ${index}`).toBeGreaterThan(0);
  }
});
