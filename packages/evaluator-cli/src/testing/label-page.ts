import { InterruptedError } from "evaluator-kit";
import { onTestFinished } from "vitest";
import { run } from "./run.ts";

/** Starts the page; `stop` is Ctrl-C. */
export async function startLabel(cwd: string, ...words: string[]) {
  const interruption = new AbortController();
  const said: string[] = [];
  const ready = Promise.withResolvers<string>();
  const write = (text: string) => {
    said.push(text);
    const origin = /http:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0];
    if (origin !== undefined) ready.resolve(origin);
  };
  const { signal } = interruption;
  const ended = run(cwd, ["label", "tickets.csv", ...words], { stderr: { write }, signal });
  const failed = ended.then(() => Promise.reject(new Error(`It ended early: ${said.join("")}`)));
  const origin = await Promise.race([ready.promise, failed]);
  const stop = async () => {
    if (!signal.aborted) interruption.abort(new InterruptedError("SIGINT"));
    return { ...(await ended), said: said.join("") };
  };
  onTestFinished(async () => void (await stop()));
  return { origin, stop };
}

interface LabelPage {
  readonly html: string;
  readonly id: string | undefined;
  readonly status: string;
}

export async function readPage(response: Response): Promise<LabelPage> {
  const html = await response.text();
  const status = /role="status">\s*<p>(.*?)<\/p>/s.exec(html)?.[1] ?? "";
  const id = /name="id" value="([^"]+)"/.exec(html)?.[1];
  return { html, id, status: status.replaceAll("&quot;", '"').replaceAll("\u00A0", " ") };
}

/** Labels the shown records until the page has a promise, and returns the page. */
export async function labelUntilPromised(
  origin: string,
  isYes: (index: number) => boolean,
): Promise<LabelPage> {
  let page = await readPage(await fetch(origin));
  while (page.id !== undefined && !page.status.startsWith("act on")) {
    const answer = isYes(Number(page.id.slice(2))) ? "0" : "1";
    const body = new URLSearchParams({ question: "refund", id: page.id, answer });
    page = await readPage(await fetch(`${origin}/labels`, { method: "POST", body }));
  }
  return page;
}
