import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { readEvents } from "../testing/read-answers.ts";
import { testRouter } from "../testing/test-router.ts";

interface AgentRequest {
  readonly client: string;
  readonly request: {
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: { readonly stream?: boolean };
  };
}

const folder = join(import.meta.dirname, "../../../../fixtures/agents");

function readRequest(file: string) {
  const { client, request } = JSON.parse(readFileSync(join(folder, file), "utf8")) as AgentRequest;
  return { name: basename(file, ".json"), client, ...request };
}

const requests = globSync("*.json", { cwd: folder }).toSorted().map(readRequest);

async function send({ path, headers, body }: (typeof requests)[number]) {
  const router = await testRouter();
  const init = { method: "POST", headers, body: JSON.stringify(body) };
  const response = await router.request(path, init);
  return { response, end: await endOf(response), seen: router.seen };
}

/** Returns the name of a reply's last event, or the kind of a whole reply. */
async function endOf(response: Response): Promise<unknown> {
  const type = response.headers.get("content-type") ?? "";
  if (!type.startsWith("text/event-stream")) return ((await response.json()) as Whole).object;
  const last = (await readEvents(response)).at(-1);
  return last?.event ?? last?.data;
}

interface Whole {
  readonly object: string;
}

const ends: Partial<Record<string, string>> = {
  "/v1/chat/completions": "[DONE]",
  "/v1/messages": "message_stop",
  "/v1/responses": "response.completed",
};

/** Requests that a program sends on its own behalf. */
const tasks = new Set([
  "aicommits",
  "claude-code-title",
  "codex-title",
  "continue-title",
  "librechat-language-title",
  "librechat-title",
  "open-webui-title",
  "opencode-title",
  "opencommit",
  "qwen-code-suggestion",
]);

test.each(requests)("a request of $client ($name) is answered to its end", async (request) => {
  const { response, end } = await send(request);
  const cause = tasks.has(request.name) ? "task" : "choice";
  expect([response.status, response.headers.get("x-router-cause")]).toEqual([200, cause]);
  const [path = ""] = request.path.split("?");
  expect(end).toBe(request.body.stream === true ? ends[path] : "chat.completion");
});

test("the evaluation model reads the words of the user, without the program's reminders", async () => {
  const asked = requests.map(async (request) => {
    const { seen } = await send(request);
    const evaluations = seen.filter(({ path }) => path.endsWith("/evaluation-model"));
    const messages = evaluations.map(({ body }) => (body as Evaluation).state.user_message);
    return [request.name, messages];
  });
  const noEvaluation = Array.from(tasks, (name) => [name, []]);
  const fix = ["The total of an empty cart is NaN. Fix it."];
  const shortFix = ["Fix the NaN of an empty cart."]; // short, so an earlier text would be read too
  const weather = "What is the weather in Oslo?";
  expect(Object.fromEntries(await Promise.all(asked))).toEqual({
    ...Object.fromEntries(noEvaluation),
    aider: fix,
    "anthropic-tool-runner": [weather],
    "claude-code": shortFix,
    "claude-code-compaction": shortFix,
    cline: fix,
    codex: shortFix,
    "codex-compaction": shortFix,
    continue: fix,
    copilot: fix,
    crewai: [
      `Current Task: ${weather}\n\nThis is the expected criteria for your final answer: one sentence`,
    ],
    dspy: [`[[ ## question ## ]]\n${weather}`],
    langgraph: [weather],
    "librechat-agent": ["What is the weather in Oslo and in Rome?"],
    "llama-index": [weather],
    librechat: ["Write a haiku about tests.\n\nAnother one."],
    "openai-agents": [weather],
    "open-webui": ["What is in this picture?\n[image]"],
    "open-webui-tools": [weather],
    opencode: shortFix,
    pi: fix,
    "pydantic-ai": [weather],
    "qwen-code": fix,
    smolagents: [`New task:\n${weather}`],
  });
});

interface Evaluation {
  readonly state: { readonly user_message: string };
}

/** Values that the next step of a program needs, or that its cost depends on. */
const kept: Partial<Record<string, readonly string[]>> = {
  "anthropic-tool-runner": ["call_2_0", "sunny, 21 degrees"],
  "claude-code": ["toolu_01", "toolu_02", "1 failing", "error-text", "cacheControl", "b3BhcXVl"],
  cline: ["call_502_0", "call_502_1", "call_503_0", "call_504_0", "Initial value."],
  codex: ["call_1", "call_2", "*** Begin Patch", "apply_patch", "gAAAAb3BhcXVl"],
  continue: ["call_511_0", "call_511_1", "call_513_0", "call_514_0"],
  crewai: ["call_4_0", "sunny, 21 degrees"],
  langgraph: ["call_4_0", "call_4_1", "sunny, 21 degrees"],
  "llama-index": ["call_11_0", "call_11_1", "sunny, 21 degrees"],
  "openai-agents": ["call_0_0", "call_0_1", "sunny, 21 degrees"],
  "open-webui": ["R0lGODlhAQABAAAAACwAAAAAAQABAAACADs="],
  "open-webui-tools": ["call_5_0", "sunny, 21 degrees"],
  opencode: ["call_1", "call_2", "1 failing", "The reduce has no initial value."],
  copilot: ["call_49_0", "call_49_1", "04d2a747", "has completed", "Initial value."],
  "librechat-agent": ["call_546_0", "call_546_1", "call_547_0", "sunny in Bergen"],
  pi: ["call_506_0", "call_506_1", "call_507_0", "Read and list first."],
  "pydantic-ai": ["call_2_0", "call_2_1", "sunny, 21 degrees"],
  "qwen-code": ["call_516_0", "call_516_1", "call_517_0", "call_518_0", "Initial value."],
};

interface Reply {
  readonly prompt: readonly { readonly role: string }[];
}

test("no model gets instructions after the user's first message, which Gemini refuses", async () => {
  for (const request of requests) {
    const { seen } = await send(request);
    const replies = seen.filter(({ path }) => path.endsWith("/language-model"));
    const roles = replies.flatMap(({ body }) => (body as Reply).prompt.map(({ role }) => role));
    expect(roles.lastIndexOf("system")).toBeLessThan(roles.indexOf("user"));
  }
});

test.each(requests)(
  "the model of $client ($name) gets calls, results, signatures",
  async (request) => {
    const { seen } = await send(request);
    const replies = seen.filter(({ path }) => path.endsWith("/language-model"));
    const sent = JSON.stringify(replies.map(({ body }) => body));
    expect(replies).toHaveLength(1);
    expect((kept[request.name] ?? []).filter((value) => !sent.includes(value))).toEqual([]);
  },
);
