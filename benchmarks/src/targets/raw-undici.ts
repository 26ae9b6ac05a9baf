import { request, Agent, type Dispatcher } from "undici";
import { gatewayHeaders as headers } from "../sample-requests.ts";
import { type Ask, type TargetSetUp, answersIn } from "./target.ts";

/** Opens hand-written undici code, the reference of every ratio. */
export function openUndiciRequest({ addresses }: TargetSetUp): Ask {
  const url = `${addresses.gateway}/evaluation-model`;
  return async ({ state, questions }) => {
    const sent = JSON.stringify({ state, questions });
    const { statusCode, body } = await request(url, { method: "POST", headers, body: sent });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`Status ${statusCode}: ${text}`);
    return answersIn(JSON.parse(text));
  };
}

/** Opens the floor: undici without the body stream that `request` builds. */
export function openUndiciDispatch({ addresses }: TargetSetUp): Ask {
  const agent = new Agent();
  const { origin, pathname } = new URL(`${addresses.gateway}/evaluation-model`);
  return async ({ state, questions }) => {
    const body = JSON.stringify({ state, questions });
    const call = { origin, path: pathname, method: "POST", headers, body } as const;
    const { status, text } = await dispatch(agent, call);
    if (status !== 200) throw new Error(`Status ${status}: ${text}`);
    return answersIn(JSON.parse(text));
  };
}

interface WholeResponse {
  readonly status: number;
  readonly text: string;
}

function dispatch(agent: Agent, call: Dispatcher.DispatchOptions): Promise<WholeResponse> {
  return new Promise((resolve, reject) => {
    agent.dispatch(call, new Collector(resolve, reject));
  });
}

class Collector implements Dispatcher.DispatchHandler {
  readonly #resolve: (response: WholeResponse) => void;
  readonly #reject: (error: Error) => void;
  readonly #chunks: Buffer[] = [];
  #status = 0;

  constructor(resolve: (response: WholeResponse) => void, reject: (error: Error) => void) {
    this.#resolve = resolve;
    this.#reject = reject;
  }

  onRequestStart(): void {}

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    this.#status = status;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const [only] = this.#chunks;
    const whole = this.#chunks.length === 1 && only ? only : Buffer.concat(this.#chunks);
    this.#resolve({ status: this.#status, text: whole.toString() });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#reject(error);
  }
}
