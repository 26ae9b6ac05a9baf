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
    readonly body: object;
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
  "claude-code": "message_stop",
  "claude-code-compaction": "message_stop",
  "claude-code-title": "message_stop",
  codex: "response.completed",
  "codex-compaction": "response.completed",
  "codex-title": "response.completed",
  "open-webui-title": "chat.completion",
};

test.each(requests)("a request of $client ($name) is answered to its end", async (request) => {
  const { response, end } = await send(request);
  const cause = request.name.endsWith("-title") ? "task" : "choice";
  expect([response.status, response.headers.get("x-router-cause")]).toEqual([200, cause]);
  expect(end).toBe(ends[request.name] ?? "[DONE]");
});

test("the evaluation model reads the words of the user, without the program's reminders", async () => {
  const asked = requests.map(async (request) => {
    const { seen } = await send(request);
    const evaluations = seen.filter(({ path }) => path.endsWith("/evaluation-model"));
    const messages = evaluations.map(({ body }) => (body as Evaluation).state.user_message);
    return [request.name, messages];
  });
  const fix = ["The total of an empty cart is NaN. Fix it."];
  const shortFix = ["Fix the NaN of an empty cart."]; // short, so an earlier text would be read too
  expect(Object.fromEntries(await Promise.all(asked))).toEqual({
    aider: fix,
    "claude-code": shortFix,
    "claude-code-compaction": shortFix,
    "claude-code-title": [], // costs no evaluation
    cline: fix,
    codex: shortFix,
    "codex-compaction": shortFix,
    "codex-title": [],
    continue: fix,
    librechat: ["Write a haiku about tests.\n\nAnother one."],
    "open-webui": ["What is in this picture?\n[image]"],
    "open-webui-title": [],
    opencode: shortFix,
    "opencode-title": [],
  });
});

interface Evaluation {
  readonly state: { readonly user_message: string };
}

/** Values that the next step of a program needs, or that its cost depends on. */
const kept: Partial<Record<string, readonly string[]>> = {
  "claude-code": ["toolu_01", "toolu_02", "1 failing", "error-text", "cacheControl", "b3BhcXVl"],
  cline: ["call_1"],
  codex: ["call_1", "call_2", "*** Begin Patch", "apply_patch", "gAAAAb3BhcXVl"],
  continue: ["call_1"],
  "open-webui": ["R0lGODlhAQABAAAAACwAAAAAAQABAAACADs="],
  opencode: ["call_1", "call_2", "1 failing", "The reduce has no initial value."],
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
