/** One request that was answered. */
interface RecordedCall {
  readonly path: string;
  /** What was sent. */
  readonly body: string;
  /** The answer as JSON, null where it is none. */
  readonly json: unknown;
  readonly ms: number;
}

/** A `fetch` that keeps what was sent and answered, to tell what a server can do. */
export class RequestRecorder {
  readonly calls: RecordedCall[] = [];

  /** Sends a request with the global `fetch` and keeps it with its answer. */
  async fetch(url: string | URL | Request, init?: RequestInit): Promise<Response> {
    const startedAt = performance.now();
    const response = await fetch(url, init);
    const text = await response.text();
    const { pathname } = new URL(url instanceof Request ? url.url : url);
    this.calls.push({
      path: pathname.replace(/^.*(?=\/(?:v1|api)\/)|^.*(?=\/[^/]+$)/, ""),
      body: typeof init?.body === "string" ? init.body : "",
      json: response.ok ? parseJson(text) : null,
      ms: performance.now() - startedAt,
    });
    const { status, headers } = response;
    const isEmpty = [101, 204, 205, 304].includes(status);
    // The body is decoded by now.
    const kept = [...headers].filter(([name]) => !/^content-(encoding|length)$/.test(name));
    return new Response(isEmpty ? null : text, { status, headers: kept });
  }

  /** Returns the kind of server by how it was asked, or null before it was. */
  serverKind(): string | null {
    const asked = this.calls.filter(({ body }) => body !== "");
    if (asked.some(({ path }) => path === "/completion")) return "llama.cpp";
    if (asked.some(({ path }) => path === "/generate")) return "sglang";
    const chat = asked.find(({ path }) => path === "/v1/chat/completions");
    if (chat === undefined) return null;
    if (chat.body.includes('"chat_template_kwargs"')) return "vllm";
    return chat.body.includes('"reasoning_effort"') ? "ollama" : "openai";
  }

  /** Returns how many tokens the longest list held. */
  listedTokens(): number {
    return Math.max(0, ...this.calls.map(({ json }) => longestList(json)));
  }

  /** Returns the middle time of the questions from a call on; null where there were none. */
  middleMs(from: number): number | null {
    const times = this.calls.slice(from).flatMap(({ path, ms }) => {
      return ["/v1/chat/completions", "/completion", "/generate"].includes(path) ? [ms] : [];
    });
    return times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)] ?? null;
  }
}

const lists = new Set(["top_logprobs", "output_top_logprobs", "output_token_ids_logprobs"]);

/** Returns the length of the longest list of tokens anywhere in an answer. */
function longestList(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return Math.max(
    0,
    ...Object.entries(value).map(([name, part]) => {
      if (!lists.has(name) || !Array.isArray(part)) return longestList(part);
      const [first] = part as unknown[];
      // SGLang lists the tokens of each position in a list of its own.
      return Array.isArray(first) ? first.length : part.length;
    }),
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
